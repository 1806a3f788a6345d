"""The first update of a stack as it went, step by step, beside the simulation.

The engine's state has the moment at which each resource was created. A step begins when the last of the resources that
it waits for exists. Components, data sources and resources of later updates have no figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from llmd_gke.graph.resources import Graph
from operations.timeline.simulate import EARLY, HOST, POLICY, SERVICE, Timeline, TimelineStep

SLACK = timedelta(seconds=5)
"""The engine and the history take their times at slightly different moments."""
SHORTEST_SECONDS = 5
"""Steps below it, expected and measured, are not in the table."""

Key = tuple[str, str]
"""Type and name of a resource: the state and the recorded graph have other URNs where project or stack differ."""


@dataclass(frozen=True)
class MeasuredStep:
    """A resource: seconds that were expected and that it took, from what it waited for until it existed."""

    name: str
    expected: float
    measured: float

    @property
    def ratio(self) -> float | None:
        """Measured by expected; ``None`` where nothing was expected."""
        return self.measured / self.expected if self.expected else None


@dataclass(frozen=True)
class Measurement:
    """Steps in the order in which they ended, and seconds until each model's service was created."""

    steps: tuple[MeasuredStep, ...]
    services: Mapping[str, float]
    total: float


def first_update(created: Mapping[Key, datetime], updates: Sequence[tuple[datetime, datetime]]) -> dict[Key, datetime]:
    """The resources of the update that created the first one, or all of them without a history of updates."""
    if not created:
        return {}
    first = min(created.values())
    end = next((end for start, end in updates if start - SLACK <= first <= end + SLACK), None)
    return dict(created) if end is None else {key: when for key, when in created.items() if when <= end + SLACK}


def measure(graph: Graph, timeline: Timeline, created: Mapping[Key, datetime]) -> Measurement:
    """What the resources of one update took. ``created`` includes the stack itself, which is there from the begin."""
    if not created:
        return Measurement((), {}, 0.0)
    begin = min(created.values())
    expected = _expected(timeline.steps)
    ends: dict[str, datetime] = {}
    steps: list[tuple[datetime, MeasuredStep]] = []
    services: dict[str, float] = {}
    for node in graph.in_order():
        start = max((ends[one] for one in graph.before(node, direct=True) if one in ends), default=begin)
        end = created.get((node.type, node.name)) if node.name in expected else None
        ends[node.urn] = start if end is None else end
        if end is None:
            continue
        seconds = max(0.0, (end - start).total_seconds())
        steps.append((end, MeasuredStep(node.name, expected[node.name], seconds)))
        if node.type == SERVICE:
            services[node.name.removesuffix("-service")] = (end - begin).total_seconds()
    steps.sort(key=lambda one: (one[0], one[1].name))
    total = max((end for end, _ in steps), default=begin) - begin
    return Measurement(tuple(step for _, step in steps), services, total.total_seconds())


def _expected(steps: Sequence[TimelineStep]) -> dict[str, float]:
    """Seconds by resource, from the begin of its first step to the end of its last: those of a model's service are its
    creation, the wait for a host that a Job asked for, and the start of its pods.
    """
    starts: dict[str, float] = {}
    ends: dict[str, float] = {}
    for step in steps:
        # No resource waits for either: policies come into force beside the pods, and a Job exists without its host.
        if step.name.endswith((POLICY, f"{EARLY}{HOST}")):
            continue
        name = step.name.partition("/")[0]
        starts[name] = min(starts.get(name, step.start), step.start)
        ends[name] = max(ends.get(name, step.end), step.end)
    return {name: ends[name] - start for name, start in starts.items()}
