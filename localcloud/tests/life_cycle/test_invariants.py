"""Each invariant holds for a healthy stack, and fails for the damage that it is there to find."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcloud.tests.life_cycle import invariants
from localcloud.tests.life_cycle.invariants import MEMBER, NAT, Resource, Seen

NETWORK = ("gcp:compute/network:Network", "projects/p/global/networks/n")
POOL = ("gcp:container/nodePool:NodePool", "projects/p/locations/z/clusters/c/nodePools/v6e1")
ROLE = (MEMBER, "p/roles/viewer/serviceAccount:a")
IN_ROUTER = (NAT, "p/region/router/nat")
ENTRIES = (NETWORK, POOL, ROLE, IN_ROUTER)
HEALTHY = Seen(
    exists=True,
    state=tuple(Resource(f"urn::{kind}::it", kind, ident) for kind, ident in ENTRIES),
    cloud=frozenset(ENTRIES),
    emulated=frozenset((NETWORK[1], POOL[1])),
    titles=(("projects/p/dashboards", "llmd"),),
)
WANTED = frozenset({(POOL[0], "v6e1")})
EMPTY = Seen()
SECRET = "hf_0123456789"


def test_a_healthy_stack_passes() -> None:
    assert invariants.nothing_twice(HEALTHY) == []
    assert invariants.same_on_both_sides(HEALTHY) == []
    assert invariants.orphans_are_explained(HEALTHY, lost=()) == []
    assert invariants.emulator_agrees(HEALTHY) == []
    assert invariants.as_wanted(HEALTHY, WANTED) == []
    assert invariants.nothing_left(EMPTY) == []


@pytest.mark.parametrize("entry", ENTRIES, ids=[kind for kind, _ in ENTRIES])
def test_an_object_on_one_side_only_is_noticed(entry: tuple[str, str]) -> None:
    without = replace(HEALTHY, state=tuple(one for one in HEALTHY.state if (one.kind, one.id) != entry))
    assert invariants.same_on_both_sides(without) == [f"in the cloud and not in the state: {entry}"]
    assert invariants.orphans_are_explained(without, lost=()) == [f"orphaned: {entry}"]
    gone = replace(HEALTHY, cloud=HEALTHY.cloud - {entry})
    assert invariants.same_on_both_sides(gone) == [f"in the state and not in the cloud: {entry}"]


def test_what_a_killed_engine_was_making_and_what_a_lost_answer_left_is_explained() -> None:
    seen = replace(HEALTHY, state=HEALTHY.state[1:], pending=((NETWORK[0], "network-vpc"),))
    assert invariants.orphans_are_explained(seen, lost=()) == []
    assert invariants.orphans_are_explained(replace(seen, pending=()), lost={NETWORK[0]}) == []
    assert invariants.same_on_both_sides(seen)


def test_an_interrupted_destroy_explains_objects_of_the_cluster_alone() -> None:
    inside = ("apps/v1/Deployment", "ns/d")
    seen = replace(HEALTHY, state=HEALTHY.state[1:], cloud=HEALTHY.cloud | {inside})
    assert invariants.orphans_are_explained(seen, (), destroying=True) == [f"orphaned: {NETWORK}"]
    assert len(invariants.orphans_are_explained(seen, ())) == 2


def test_a_secret_is_noticed_wherever_it_is_and_not_repeated() -> None:
    texts = {"state": "[secret]", "arguments": f"pulumi config set {SECRET}"}
    (wrong,) = invariants.no_secret(texts, [SECRET])
    assert "arguments" in wrong
    assert SECRET not in wrong
    assert invariants.no_secret({"state": "[secret]"}, [SECRET]) == []


QUOTA = "GCE_QUOTA_EXCEEDED: no chips"
EXPLAINED = "\nCause: the project's quota is exhausted, or was never\ngranted.\nFix: request more."


@pytest.mark.parametrize(
    ("output", "errors", "wrong"),
    [
        (EXPLAINED, [QUOTA], []),
        ("The engine was killed. `make up` repairs what it left and continues.", [], []),
        (EXPLAINED, [QUOTA, "failed to run remediation: context canceled\n"], []),
        ("error: update failed", [], ["the failure names no fix"]),
        (EXPLAINED, ["never seen before"], ["no cause and fix for the error: never seen before"]),
        ("Fix: try again.", [QUOTA], ["the cause is not said: the project's quota is exhausted, or was never granted"]),
    ],
)  # fmt: skip
def test_a_failure_without_cause_and_fix_is_noticed(output: str, errors: list[str], wrong: list[str]) -> None:
    assert invariants.failure_is_explained(output, errors) == wrong


def test_a_refresh_may_leave_the_default_pool_of_an_unfinished_up_and_an_up_may_not() -> None:
    pool = (POOL[0], f"projects/p/locations/z/clusters/c{invariants.DEFAULT_POOL}")
    seen = replace(HEALTHY, cloud=HEALTHY.cloud | {pool})
    assert invariants.same_on_both_sides(seen, "refresh") == []
    assert invariants.same_on_both_sides(seen, "up") == [f"in the cloud and not in the state: {pool}"]
