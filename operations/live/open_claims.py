"""What only Google Cloud can show (``claims.toml``), and the answers by a run. As a program: the table of the page."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from llmd_common.kubernetes.fields import condition_is_true, conditions, each, label, name, text
from llmd_gke.catalog.accelerators import POOL_LABEL
from operations.live.evidence import Evidence
from operations.status import gateway, services, stages
from operations.status.objects import Line, Snapshot, State, of

Seen = Literal["yes", "no", "open"]
Answer = tuple[Seen, str]


@dataclass(frozen=True)
class Point:
    """A claim of ``claims.toml``; ``run``: the key of :data:`ANSWERS` if a run can answer it."""

    number: int
    claim: str
    stand_in: str
    check: str
    run: str = ""


NOT_SEEN: Answer = ("open", "the run did not get that far")


def _edge(pattern: str) -> Callable[[Evidence], Answer]:
    """An answer from the status lines of the gateway whose subject matches ``pattern``, for all models."""

    def answer(seen: Evidence) -> Answer:
        if seen.snapshot is None:
            return NOT_SEEN
        lines = [
            line
            for model in seen.settings.models
            if not model.stopped
            for line in gateway.model_lines(
                seen.snapshot, model.namespace, model.name, seen.stack, seen.settings.front_door
            )
            if re.search(pattern, line.subject)
        ]
        return _good(lines)

    return answer


def _good(lines: Iterable[Line]) -> Answer:
    listed = list(lines)
    if not listed:
        return NOT_SEEN
    wrong = [line for line in listed if line.state is not State.GOOD]
    if not wrong:
        return "yes", f"{listed[0].subject}: {listed[0].text}"
    return "no" if any(line.state is State.BAD for line in wrong) else "open", f"{wrong[0].subject}: {wrong[0].text}"


def _judged(verdict: str | None, what: str, text: str) -> Answer:
    if verdict == "passed":
        return "yes", text
    return ("no", f"{what} failed") if verdict == "failed" else NOT_SEEN


def _up(text: str) -> Callable[[Evidence], Answer]:
    return lambda seen: _judged(seen.verdict("up"), "step up", text)


def _completes(seen: Evidence) -> Answer:
    return _judged(seen.smoked("completion"), "smoke: completion", "smoke: completion passed")


def _ready(seen: Evidence) -> Answer:
    if seen.snapshot is None:
        return NOT_SEEN
    services = [of(seen.snapshot.services, one.namespace, one.name) for one in seen.settings.models if not one.stopped]
    states = [text(conditions(service).get("Ready"), "status") for service in services]
    if states and all(state == "True" for state in states):
        return "yes", f"{len(states)} LLMInferenceService(s) Ready"
    return "open", f"Ready is {', '.join(state or 'not reported' for state in states)}"


def _took(resource: str) -> Callable[[Evidence], Answer]:
    def answer(seen: Evidence) -> Answer:
        seconds = seen.created.get(resource)
        return NOT_SEEN if seconds is None else ("yes", f"{resource} was created in {seconds} s")

    return answer


def _servers(seen: Evidence, snapshot: Snapshot) -> list[stages.Position]:
    return [
        stages.position(pod)
        for model in seen.settings.models
        for pod in services.pods_of(snapshot, model.namespace, model.name)
    ]


def _server_ready(text: str) -> Callable[[Evidence], Answer]:
    def answer(seen: Evidence) -> Answer:
        positions = _servers(seen, seen.snapshot) if seen.snapshot else []
        if any(position.stage is stages.READY for position in positions):
            return "yes", text
        failing = next((position for position in positions if position.stage is stages.FAILING), None)
        return ("no", failing.detail) if failing else NOT_SEEN

    return answer


def _nodes(seen: Evidence) -> Answer:
    if seen.snapshot is None:
        return NOT_SEEN
    pools = {pool.name for pool in seen.settings.node_pools}
    nodes = [node for node in seen.snapshot.nodes if label(node, POOL_LABEL) in pools]
    ready = [node for node in nodes if condition_is_true(node, "Ready")]
    return ("yes", f"{len(ready)} TPU node(s) Ready") if ready else NOT_SEEN


def _pools_known(seen: Evidence) -> Answer:
    if seen.snapshot is None:
        return NOT_SEEN
    if "pools" in seen.snapshot.unreadable:
        return "no", seen.snapshot.unreadable["pools"]
    return "yes", "the cluster serves InferencePool v1"


def _warm(seen: Evidence) -> Answer:
    if seen.snapshot is None or not any(model.warm_up for model in seen.settings.models):
        return NOT_SEEN
    for model in seen.settings.models:
        for pod in services.pods_of(seen.snapshot, model.namespace, model.name):
            for status in each(pod, "status", "containerStatuses"):
                if text(status, "name") == "warm-up" and text(status, "ready") == "True":
                    return "yes", f"container warm-up of {name(pod)} is ready"
    return NOT_SEEN


def _if(
    condition: Callable[[Evidence], bool], answer: Callable[[Evidence], Answer], unless: str
) -> Callable[[Evidence], Answer]:
    return lambda seen: answer(seen) if condition(seen) else ("open", unless)


def _left(seen: Evidence) -> Answer:
    if seen.left is None:
        return "open", "not checked: the stack is not on Google Cloud, or Google must not be queried"
    return (
        ("no", seen.left) if seen.left else ("yes", "no firewall rule, endpoint group, address or disk of the cluster")
    )


ANSWERS: Mapping[str, Callable[[Evidence], Answer]] = {
    "policies attached": _edge("policies|health check|backend timeout"),
    "route accepted": _edge(": route$"),
    "services ready": _ready,
    "gateway created": _took("edge-gateway"),
    "pools known": _pools_known,
    "image starts": _server_ready("a server runs from it"),
    "capabilities dropped": _server_ready("a server is ready with them dropped"),
    "nodes ready": _nodes,
    "completion": _completes,
    "external address": _if(
        lambda seen: seen.settings.gateway.exposure == "external",
        lambda seen: _good(gateway.lines(seen.snapshot, "", seen.stack)) if seen.snapshot else NOT_SEEN,
        "the stack's gateway is internal",
    ),
    "nothing left": _left,
    "weights mounted": _if(
        lambda seen: any(model.uses_buckets for model in seen.settings.models),
        _server_ready("a server with a bucket is ready"),
        "no model of the stack uses a bucket",
    ),
    "warm-up ready": _warm,
    "names resolve": _if(
        lambda seen: any(model.uri.startswith("hf://") for model in seen.settings.models),
        _server_ready("weights were downloaded by name"),
        "no model of the stack downloads weights",
    ),
    "cluster created": _up("the cluster was created with it"),
    "webhooks reached": _up("the runtime configurations were admitted"),
    "class created": _took("gateway-api-class"),
    "weights copied": _if(
        lambda seen: any(model.weights_cache for model in seen.settings.models),
        _server_ready("a server with a copy is ready"),
        "no model of the stack has weightsCache",
    ),
}
"""What a run says about a claim, by the name that ``claims.toml`` gives it."""
POINTS = TypeAdapter(tuple[Point, ...]).validate_python(
    tomllib.loads(Path(__file__).with_name("claims.toml").read_text(encoding="utf-8"))["claims"]
)
BY_HAND: Mapping[int, str] = {point.number: point.check for point in POINTS if not point.run}
"""How to check the claims that a run cannot answer."""


def answers(seen: Evidence) -> list[tuple[Point, Seen, str]]:
    """The answer to every point with a function. Only a run on Google Cloud answers any: elsewhere all remain open."""
    asked = [point for point in POINTS if point.run]
    if seen.cloud != "google":
        return [(point, "open", f"the {seen.cloud} cannot answer it") for point in asked]
    return [(point, *ANSWERS[point.run](seen)) for point in asked]


if __name__ == "__main__":
    print("| # | Claim | Stand-in | How to check |\n|---|---|---|---|")
    for point in POINTS:
        check = f"`llmd-gke live`, or {point.check}" if point.run else point.check
        print(f"| {point.number} | {point.claim} | {point.stand_in} | {check} |")
