"""What a seed draws: steps, each a command with a change of the settings, faults and a kill.

A plan is data. Hypothesis draws it from a seed, and it is replayed by its seed or, with another version of Hypothesis,
by its text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.life_cycle.settings_changes import CHANGES

Command = Literal["up", "refresh", "down"]
Victim = Literal["engine", "provider", "emulator"]
Fault = dict[str, Any]
VICTIMS: tuple[Victim, ...] = get_args(Victim)

STEPS = 3
"""Of a plan. What always follows: an `up` without a fault, and a destroy."""
DRAWN = 20
RICHNESS = 6
"""Of the plans that Hypothesis draws from a seed, the one counts whose number of different changes, faults and kills is
closest to this: the first ones are the simplest, and many repeat one step."""


@dataclass(frozen=True)
class Kill:
    """Ends a process without warning, once the clouds were asked that many times in this step."""

    victim: Victim
    after: int


@dataclass(frozen=True)
class Step:
    """A change of the settings (its name, or none), the emulator's faults, then a command, and a kill during it."""

    command: Command
    change: str = ""
    faults: tuple[Fault, ...] = ()
    kill: Kill | None = None

    @property
    def quiet(self) -> bool:
        """Whether nothing goes wrong in it."""
        return not self.faults and self.kill is None


def as_text(plan: list[Step]) -> str:
    """A plan as JSON, on one line."""
    return json.dumps([_as_data(step) for step in plan])


def _as_data(step: Step) -> dict[str, Any]:
    data: dict[str, Any] = {"command": step.command}
    if step.change:
        data["change"] = step.change
    if step.faults:
        data["faults"] = list(step.faults)
    if step.kill:
        data["kill"] = {"victim": step.kill.victim, "after": step.kill.after}
    return data


def from_text(text: str) -> list[Step]:
    """The plan that :func:`as_text` wrote."""
    return [
        Step(
            one["command"],
            one.get("change", ""),
            tuple(one.get("faults", ())),
            Kill(**one["kill"]) if "kill" in one else None,
        )
        for one in cast("list[dict[str, Any]]", json.loads(text))
    ]


CREATES = (
    "compute.networks.insert", "compute.subnetworks.insert", "compute.routers.insert", "compute.addresses.insert",
    "iam.projects.serviceAccounts.create", "container.projects.locations.clusters.create",
    "container.projects.locations.clusters.nodePools.create", "monitoring.projects.dashboards.create",
)  # fmt: skip
CHANGED = (
    "compute.routers.patch", "container.projects.locations.clusters.update",
    "container.projects.locations.clusters.nodePools.*", "cloudresourcemanager.projects.setIamPolicy",
    "serviceusage.services.*",
)  # fmt: skip
DELETES = (
    "compute.networks.delete", "compute.subnetworks.delete", "compute.addresses.delete",
    "container.projects.locations.clusters.delete", "container.projects.locations.clusters.nodePools.delete",
)  # fmt: skip
READS = (
    "compute.networks.get", "compute.subnetworks.get", "compute.routers.get", "iam.projects.serviceAccounts.get",
    "container.projects.locations.clusters.get", "container.projects.locations.clusters.nodePools.get",
    "cloudresourcemanager.projects.getIamPolicy", "serviceusage.services.list",
)  # fmt: skip
OPERATIONS = tuple(name for name in (*CREATES, *CHANGED, *DELETES) if name.startswith(("compute.", "container.")))
"""Methods that the provider calls. Those in ``OPERATIONS`` answer before their work is done."""

MESSAGES = {
    409: "The operation was aborted: there were concurrent changes. Please retry with exponential backoff.",
    429: "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of the service.",
    503: "The service is currently unavailable.",
}


def _times(most: int) -> st.SearchStrategy[int]:
    return st.integers(1, most)


FAULTS: dict[str, st.SearchStrategy[Fault]] = {
    "error": st.builds(
        lambda method, code, times: {
            "fault": "error", "method": method, "code": code, "message": MESSAGES[code], "times": times,
        },
        st.sampled_from((*CREATES, *CHANGED, *DELETES, *READS)), st.sampled_from(tuple(MESSAGES)), _times(3),
    ),
    "operation": st.builds(
        lambda method: {"fault": "operation", "method": method, "message": "internal error", "times": 1},
        st.sampled_from(OPERATIONS),
    ),
    "slow": st.builds(
        lambda method, seconds, times: {"fault": "slow", "method": method, "seconds": seconds, "times": times},
        st.sampled_from(OPERATIONS), _times(4), _times(3),
    ),
    "drop": st.builds(
        lambda method: {"fault": "drop", "method": method, "times": 1},
        st.sampled_from((*CREATES, *CHANGED, *DELETES, *READS)),
    ),
    "expired-token": st.builds(
        lambda method: {"fault": "expired-token", "method": method, "times": 1},
        st.sampled_from((*CREATES, *CHANGED, *DELETES, *READS)),
    ),
    "stockout": st.builds(
        lambda capacity, times: {"fault": "stockout", "capacity": capacity, "times": times},
        st.sampled_from(("spot", "on-demand")), _times(2),
    ),
    "quota": st.just({"fault": "world", "quota": {"CT6E": 0}}),
    "reclaimed": st.builds(
        lambda seconds: {"fault": "reclaimed", "resource": "*/nodePools/v6e1", "seconds": seconds, "times": 1},
        _times(5),
    ),
    "in use": st.builds(lambda seconds: {"fault": "world", "inUseAfterCluster": seconds}, st.integers(2, 10)),
    "not usable yet": st.builds(
        lambda api, seconds: {"fault": "world", "usableAfter": {api: seconds}},
        st.sampled_from(("compute.googleapis.com", "container.googleapis.com", "iam.googleapis.com")),
        st.integers(2, 10),
    ),
}  # fmt: skip
"""By the name under which they are counted."""


def kind_of(fault: Fault) -> str:
    """The name under which a fault is counted."""
    named = {"quota": "quota", "inUseAfterCluster": "in use", "usableAfter": "not usable yet"}
    return next((name for key, name in named.items() if key in fault), str(fault["fault"]))


def kills() -> st.SearchStrategy[Kill]:
    """Early and late in a step: a first `up` asks about 200 times."""
    return st.builds(Kill, st.sampled_from(VICTIMS), st.one_of(st.integers(1, 20), st.integers(20, 150)))


def steps(commands: tuple[Command, ...] = ("up", "up", "up", "up", "refresh", "down")) -> st.SearchStrategy[Step]:
    """One step."""
    faults = st.lists(st.one_of(*FAULTS.values()), max_size=2, unique_by=kind_of).map(tuple)
    change = st.one_of(st.just(""), st.sampled_from(tuple(CHANGES)), st.sampled_from(tuple(CHANGES)))
    return st.builds(Step, st.sampled_from(commands), change, faults, st.one_of(st.none(), st.none(), kills()))


def plans() -> st.SearchStrategy[list[Step]]:
    """The first step makes the stack."""
    return st.tuples(steps(("up",)), *[steps() for _ in range(STEPS - 1)]).map(list)


def plan_of(number: int) -> list[Step]:
    """The plan of a seed."""
    drawn: list[list[Step]] = []

    @seed(number)
    @settings(
        max_examples=DRAWN, phases=[Phase.generate], database=None, deadline=None,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.large_base_example),
    )  # fmt: skip
    @given(plans())
    def draw(plan: list[Step]) -> None:
        drawn.append(plan)

    draw()
    return min(reversed(drawn), key=lambda plan: abs(richness(plan) - RICHNESS))


def richness(plan: list[Step]) -> int:
    """How many different changes, faults and kills a plan has."""
    changes = {step.change for step in plan} - {""}
    faults = {json.dumps(fault) for step in plan for fault in step.faults}
    return len(changes) + len(faults) + sum(step.kill is not None for step in plan)


def shorter(plan: list[Step]) -> list[list[Step]]:
    """Plans with less in them, the shortest first: without a step, a kill, a fault or a change."""
    smaller: list[list[Step]] = [plan[:at] + plan[at + 1 :] for at in range(len(plan))]
    for at, step in enumerate(plan):
        lesser: list[Step] = []
        if step.kill:
            lesser.append(Step(step.command, step.change, step.faults))
        lesser += [
            Step(step.command, step.change, step.faults[:one] + step.faults[one + 1 :], step.kill)
            for one in range(len(step.faults))
        ]
        if step.change:
            lesser.append(Step(step.command, "", step.faults, step.kill))
        smaller += [[*plan[:at], one, *plan[at + 1 :]] for one in lesser]
    return [one for one in smaller if one]
