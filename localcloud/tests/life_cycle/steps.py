"""What a seed draws: steps, each a command with a change of the settings, faults and a kill.

A plan is data. Hypothesis draws it from a seed, and it is replayed by its seed or, with another version of Hypothesis,
by its text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, get_args

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from llmd_gke.catalog.accelerators import FAMILIES
from localcloud.tests.life_cycle.settings_changes import CHANGES

Command = Literal["up", "refresh", "down"]
Part = Literal["first", "later", "refresh", "down"]
Victim = Literal["engine", "provider", "emulator", "kubernetes"]
Fault = dict[str, Any]
VICTIMS: tuple[Victim, ...] = get_args(Victim)

STEPS = 3
"""Of a plan. What always follows: an `up` without a fault, and a destroy."""
DRAWN = 20
RICHNESS = 7
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


_PLAN = TypeAdapter(list[Step])


def as_text(plan: list[Step]) -> str:
    """A plan as JSON, on one line."""
    return _PLAN.dump_json(plan, exclude_defaults=True).decode()


def from_text(text: str) -> list[Step]:
    """The plan that :func:`as_text` wrote."""
    return _PLAN.validate_json(text)


_POOLS, _CLUSTERS = "container.projects.locations.clusters.nodePools", "container.projects.locations.clusters"
CREATES = (
    "compute.networks.insert", "compute.subnetworks.insert", "compute.routers.insert", "compute.addresses.insert",
    "compute.routers.patch", "iam.projects.serviceAccounts.create", f"{_CLUSTERS}.create", f"{_POOLS}.create",
    f"{_POOLS}.delete", "monitoring.projects.dashboards.create", "cloudresourcemanager.projects.setIamPolicy",
    "serviceusage.services.*",
)  # fmt: skip
CHANGED = (
    f"{_CLUSTERS}.update", f"{_POOLS}.*", f"{_POOLS}.create", f"{_POOLS}.delete",
    "compute.subnetworks.expandIpCidrRange", "monitoring.projects.dashboards.*",
)  # fmt: skip
DELETES = (
    "compute.networks.delete", "compute.subnetworks.delete", "compute.addresses.delete", "compute.routers.*",
    f"{_CLUSTERS}.delete", f"{_POOLS}.delete", "monitoring.projects.dashboards.delete",
    "iam.projects.serviceAccounts.delete", "cloudresourcemanager.projects.setIamPolicy",
)  # fmt: skip
READS = (
    "compute.networks.get", "compute.subnetworks.get", "compute.routers.get", "iam.projects.serviceAccounts.get",
    f"{_CLUSTERS}.get", f"{_POOLS}.get", "cloudresourcemanager.projects.getIamPolicy", "serviceusage.services.list",
)  # fmt: skip
METHODS: dict[Part, tuple[str, ...]] = {
    "first": (*CREATES, *READS), "later": (*CHANGED, *CHANGED, *READS), "down": (*DELETES, *DELETES, *READS),
    "refresh": READS,
}  # fmt: skip
"""What the provider calls while a stack is made, changed, destroyed and refreshed."""
V6E = next(one for one in FAMILIES if one.name == "v6e")
APIS = ("compute.googleapis.com", "container.googleapis.com", "iam.googleapis.com")

MESSAGES = {
    409: "The operation was aborted: there were concurrent changes. Please retry with exponential backoff.",
    429: "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of the service.",
    503: "The service is currently unavailable.",
}


def _times(most: int) -> st.SearchStrategy[int]:
    return st.integers(1, most)


def _fault(kind: str, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[Fault]:
    return st.fixed_dictionaries({"fault": st.just(kind), **more})


def _error(method: st.SearchStrategy[str]) -> st.SearchStrategy[Fault]:
    drawn = _fault("error", method=method, code=st.sampled_from(tuple(MESSAGES)), times=_times(3))
    return drawn.map(lambda one: {**one, "message": MESSAGES[one["code"]]})


def faults_of(phase: Part) -> dict[str, st.SearchStrategy[Fault]]:
    """The faults that may strike then, by the name under which they are counted."""
    any_method = st.sampled_from(METHODS[phase])
    accepted = st.sampled_from(
        [name for name in METHODS[phase] if name.startswith(("compute.", "container.")) and not name.endswith(".get")]
    )
    once = st.just(1)
    faults: dict[str, st.SearchStrategy[Fault]] = {
        "error": _error(any_method),
        "drop": _fault("drop", method=any_method, times=once),
        "expired-token": _fault("expired-token", method=any_method, times=once),
    }
    if phase == "refresh":
        pool, seconds = st.just("*/nodePools/v6e1"), _times(5)
        return faults | {"reclaimed": _fault("reclaimed", resource=pool, seconds=seconds, times=once)}
    faults |= {
        "operation": _fault("operation", method=accepted, message=st.just("internal error"), times=once),
        "slow": _fault("slow", method=accepted, seconds=_times(4), times=_times(3)),
    }
    if phase == "down":
        # Between cluster and network the rest of the network is deleted, which takes some seconds.
        return faults | {"in use": _fault("world", inUseAfterCluster=st.integers(10, 20))}
    if phase == "first":
        apis = st.dictionaries(st.sampled_from(APIS), st.integers(2, 10), min_size=1, max_size=1)
        faults |= {"not usable yet": _fault("world", usableAfter=apis)}
    return faults | {
        "stockout": _fault("stockout", capacity=st.sampled_from(("spot", "*")), times=_times(2)),
        "quota": _fault("world", quota=st.just(dict.fromkeys((V6E.quota_family, V6E.spot_quota), 0))),
        "reclaimed": _fault("reclaimed", resource=st.just("*/nodePools/v6e1"), seconds=_times(5), times=once),
    }


def kind_of(fault: Fault) -> str:
    """The name under which a fault is counted."""
    named = {"quota": "quota", "inUseAfterCluster": "in use", "usableAfter": "not usable yet"}
    return next((name for key, name in named.items() if key in fault), str(fault["fault"]))


def kills() -> st.SearchStrategy[Kill]:
    """Early and late in a step: a first `up` asks about 140 times."""
    return st.builds(Kill, st.sampled_from(VICTIMS), st.one_of(st.integers(1, 20), st.integers(20, 110)))


def steps(phase: Part) -> st.SearchStrategy[Step]:
    """One step: the one that makes the stack, or one of the others."""
    command: Command = "up" if phase in ("first", "later") else phase
    faults = st.lists(st.one_of(*faults_of(phase).values()), max_size=2, unique_by=kind_of).map(tuple)
    # Most steps change something: an `up` without a change asks Google for nothing.
    change = st.one_of(st.just(""), *[st.sampled_from(tuple(CHANGES))] * 3)
    return st.builds(Step, st.just(command), change, faults, st.one_of(st.none(), st.none(), kills()))


def plans() -> st.SearchStrategy[list[Step]]:
    """The first step makes the stack."""
    later = st.one_of(*[steps("later")] * 4, steps("refresh"), steps("down"))
    return st.tuples(steps("first"), *[later] * (STEPS - 1)).map(list)


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
    faults = {json.dumps(fault, sort_keys=True) for step in plan for fault in step.faults}
    return len(changes) + len(faults) + sum(step.kill is not None for step in plan)
