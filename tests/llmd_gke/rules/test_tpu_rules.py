from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmd_gke.catalog import accelerators
from llmd_gke.catalog.accelerators import TPU
from llmd_gke.rules import pool_capacity
from llmd_gke.rules import slices as rules
from llmd_gke.rules.finding import Finding

MACHINES = some.sampled_from([one.name for family in TPU.families for one in family.machines])
OFFERED = {(shape.machine.name, shape.topology) for family in TPU.families for shape in family.slices()}
TOPOLOGIES = some.one_of(
    some.sampled_from(sorted({topology for _, topology in OFFERED})),
    some.lists(some.integers(1, 32), min_size=1, max_size=3).map(lambda sides: "x".join(map(str, sides))),
    some.text("1248x é", max_size=8),
)


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, findings
    return findings[0]


@given(
    some.text("ct6e-standard4 é", max_size=20).filter(lambda name: name not in accelerators.machine_types()), TOPOLOGIES
)
def test_an_unknown_machine_is_complained_about_once(machine: str, topology: str) -> None:
    assert list(rules.topology(machine, topology)) == []
    assert list(rules.zone(machine, "europe-west4-a")) == []
    assert list(rules.node_counts(machine, topology, (0, 4))) == []


@pytest.mark.parametrize(
    ("machine", "topology", "problem"),
    [
        ("ct6e-standard-4t", "2x2x1", "v6e topologies have 2 dimensions, 2x2x1 has 3"),
        ("ct5p-hightpu-4t", "2x2", "v5p topologies have 3 dimensions, 2x2 has 2"),
        ("ct6e-standard-4t", "1x1", "ct6e-standard-4t cannot form 1x1; ct6e-standard-1t can"),
        ("ct6e-standard-1t", "2x4", "ct6e-standard-1t cannot form 2x4; ct6e-standard-4t and ct6e-standard-8t can"),
        ("ct6e-standard-4t", "2x3", "ct6e-standard-4t cannot form 2x3"),
    ],
)
def test_a_wrong_topology_is_explained(machine: str, topology: str, problem: str) -> None:
    finding = only(list(rules.topology(machine, topology)))
    assert finding.problem == problem
    assert finding.allowed == ", ".join(accelerators.topologies(machine))


def test_a_misspelt_zone_is_answered_with_the_one_that_was_meant() -> None:
    finding = only(list(rules.zone("ct6e-standard-4t", "europ-west4-a")))
    assert (finding.severity, finding.fix) == ("warning", "did you mean europe-west4-a?")


@pytest.mark.parametrize(
    ("zone", "allowed"),
    [("europe-west4-a", False), ("us-east5-a", True), ("asia-northeast1-b", True), ("us-central1-b", False)],
)
def test_flex_start_is_offered_in_few_zones(zone: str, allowed: bool) -> None:
    assert (list(pool_capacity.capacity("flex-start", "ct6e-standard-4t", zone)) == []) is allowed
    assert list(pool_capacity.capacity("on-demand", "ct6e-standard-4t", zone)) == []
    assert list(pool_capacity.capacity("spot", "ct6e-standard-4t", zone)) == []
