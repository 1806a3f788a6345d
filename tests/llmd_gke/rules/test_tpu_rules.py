"""Rules about slices, zones, pools."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmd_gke.catalog import accelerators, zones
from llmd_gke.catalog.accelerators import FAMILIES
from llmd_gke.rules import tpu as rules
from llmd_gke.rules.finding import Finding

MACHINES = some.sampled_from(accelerators.machine_types())
OFFERED = {(shape.machine.name, shape.topology) for family in FAMILIES for shape in family.slices()}
TOPOLOGIES = some.one_of(
    some.sampled_from(sorted({topology for _, topology in OFFERED})),
    some.lists(some.integers(1, 32), min_size=1, max_size=3).map(lambda sides: "x".join(map(str, sides))),
    some.text(max_size=8),
)


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, findings
    return findings[0]


@given(some.one_of(MACHINES, some.text(max_size=20)))
def test_a_machine_type_is_accepted_exactly_if_it_is_in_the_catalogue(name: str) -> None:
    assert (list(rules.machine_type(name)) == []) == (name in accelerators.machine_types())


@given(MACHINES, TOPOLOGIES)
def test_a_topology_is_accepted_exactly_if_the_machine_can_form_it(machine: str, topology: str) -> None:
    assert (list(rules.topology(machine, topology)) == []) == ((machine, topology) in OFFERED)


@given(some.text(max_size=20).filter(lambda name: name not in accelerators.machine_types()), TOPOLOGIES)
def test_an_unknown_machine_is_complained_about_once(machine: str, topology: str) -> None:
    assert list(rules.topology(machine, topology)) == []
    assert list(rules.zone(machine, "europe-west4-a")) == []
    assert list(rules.node_counts(machine, topology, 0, 4)) == []


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


@given(MACHINES, some.sampled_from(sorted(zones.known_zones())))
def test_a_known_zone_is_accepted_exactly_if_gke_offers_the_family_there(machine: str, zone: str) -> None:
    family = accelerators.family_of(machine)
    assert family is not None
    findings = list(rules.zone(machine, zone))
    assert (findings == []) == (zone in zones.GKE_ZONES[family.name])
    assert all(finding.severity == "error" for finding in findings)


@pytest.mark.parametrize(
    ("zone", "severity"),
    [
        ("europe-west4-b", "error"),  # has v5e
        ("europe-west4-c", "error"),  # of a region that is known
        ("mars-north1-a", "warning"),
        ("europe-west4", "error"),  # a region
        ("", "error"),
    ],
)
def test_a_zone_without_v6e_is_an_error_and_a_zone_nobody_knows_a_warning(zone: str, severity: str) -> None:
    finding = only(list(rules.zone("ct6e-standard-4t", zone)))
    assert (finding.rule, finding.severity) == ("tpu-zone", severity)
    assert "europe-west4-a" in finding.allowed


def test_a_misspelt_zone_is_answered_with_the_one_that_was_meant() -> None:
    finding = only(list(rules.zone("ct6e-standard-4t", "europ-west4-a")))
    assert (finding.severity, finding.fix) == ("warning", "did you mean europe-west4-a?")


def test_a_single_host_or_replica_is_one_in_messages_too() -> None:
    finding = only(list(rules.surge_capacity("v6e1", 1, [1])))
    assert "pool v6e1 has 1 host for 1 replica: an update starts 1 more pod, which" in finding.problem


@given(some.sampled_from(sorted(OFFERED)), some.integers(0, 40), some.integers(1, 40))
def test_node_counts_fit_the_slice(shape: tuple[str, str], minimum: int, maximum: int) -> None:
    slice_ = accelerators.find_slice(*shape)
    assert slice_ is not None
    whole = not slice_.multi_host or (maximum == slice_.hosts and minimum in (0, slice_.hosts))
    assert (list(rules.node_counts(*shape, minimum, maximum)) == []) == (minimum <= maximum and whole)


@pytest.mark.parametrize(
    ("zone", "allowed"),
    [("europe-west4-a", False), ("us-east5-a", True), ("asia-northeast1-b", True), ("us-central1-b", False)],
)
def test_flex_start_is_offered_in_few_zones(zone: str, allowed: bool) -> None:
    assert (list(rules.capacity("flex-start", "ct6e-standard-4t", zone)) == []) is allowed
    assert list(rules.capacity("on-demand", "ct6e-standard-4t", zone)) == []
    assert list(rules.capacity("spot", "ct6e-standard-4t", zone)) == []


@given(MACHINES, some.sampled_from(["pd-balanced", "pd-ssd", "hyperdisk-balanced", "pd-standard"]))
def test_a_boot_disk_is_accepted_exactly_if_it_attaches(machine: str, disk: str) -> None:
    family = accelerators.family_of(machine)
    assert family is not None
    assert (list(rules.boot_disk(machine, disk)) == []) == (disk in family.boot_disks)


@pytest.mark.parametrize(
    ("machine", "topology", "placement", "fits"),
    [
        ("ct6e-standard-4t", "2x2", None, True),
        ("ct6e-standard-4t", "2x2", "COMPACT", False),
        ("ct6e-standard-4t", "4x4", "COMPACT", True),
        ("ct6e-standard-4t", "4x4", None, False),
        ("tpu7x-standard-4t", "2x2x2", None, True),
    ],
)
def test_placement_is_for_multi_host_slices(machine: str, topology: str, placement: str | None, fits: bool) -> None:
    assert (list(rules.placement(machine, topology, placement)) == []) is fits


@pytest.mark.parametrize(("replicas", "pods"), [(1, 1), (3, 1), (4, 1), (5, 2), (8, 2), (9, 3)])
def test_an_update_surges_by_a_quarter_rounded_up(replicas: int, pods: int) -> None:
    assert rules.surge_pods(replicas) == pods


@pytest.mark.parametrize(
    ("maximum", "replicas", "rule"),
    [
        (4, [3], None),
        (3, [3], "tpu-update-room"),
        (2, [3], "tpu-pool-size"),
        (2, [1], None),
        (1, [1], "tpu-update-room"),
        (5, [3, 1], None),
        (4, [3, 1], "tpu-update-room"),
        (0, [], None),
        (10, [8], None),
        (9, [8], "tpu-update-room"),
    ],
)
def test_a_pool_has_room_for_an_update(maximum: int, replicas: list[int], rule: str | None) -> None:
    assert [finding.rule for finding in rules.surge_capacity("p", maximum, replicas)] == ([rule] if rule else [])


@given(some.lists(some.integers(1, 50), min_size=1, max_size=5))
def test_the_room_that_is_asked_for_is_enough(replicas: list[int]) -> None:
    needed = sum(replicas) + max(rules.surge_pods(count) for count in replicas)
    assert list(rules.surge_capacity("p", needed, replicas)) == []
    assert f"set maxNodes of pool p to {needed}" in only(list(rules.surge_capacity("p", needed - 1, replicas))).fix
