"""Rules that are tables and arithmetic, against what they must mean: any family, machine, topology, zone, count, name.

What is expected is worked out here from first principles, and not taken from the tables of the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import prod

from hypothesis import assume, given
from hypothesis import strategies as some

from llmd_gke.catalog import accelerators, kserve, zones
from llmd_gke.catalog.accelerators import Family, Slice
from llmd_gke.manifests import naming, server_pod
from llmd_gke.rules import multi_host, names, parallelism, pool_capacity, tpu_pools
from llmd_gke.rules import slices as rules
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from llmd_gke.settings import ModelSettings, PoolSettings

SLICES = [shape for family in accelerators.TPU.families for shape in family.slices()]
SPREAD = [shape for shape in SLICES if shape.multi_host]
ZONES = sorted({zone for of_family in zones.GKE_ZONES.values() for zone in of_family})

families = some.sampled_from(accelerators.TPU.families)
machines = some.sampled_from([one.name for family in accelerators.TPU.families for one in family.machines])
slices = some.sampled_from(SLICES)
sides = some.sampled_from([1, 2, 3, 4, 6, 8, 12, 16, 32])
topologies = some.one_of(
    some.sampled_from(sorted({shape.topology for shape in SLICES})),
    some.lists(sides, min_size=2, max_size=3).map(lambda parts: "x".join(map(str, parts))),
)


def errors(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity == "error"]


def flat_shape_exists(chips: int, topology: str) -> bool:
    """Google's rule for the two-dimensional families: squares of powers of two, and their doubles, up to 16x16."""
    parts = [int(part) for part in topology.split("x")]
    if len(parts) != 2:
        return False
    short, long = parts
    if chips == 1:
        return parts == [1, 1]
    if chips == 8:
        return parts == [2, 4]
    return short in (2, 4, 8, 16) and long in (short, 2 * short) and long <= 16


# --- slices --------------------------------------------------------------------------------------------------------


@given(machines, topologies)
def test_a_flat_topology_is_accepted_exactly_when_google_has_it(machine: str, topology: str) -> None:
    family = accelerators.family_of(machine)
    assert family
    assume(family.dimensions == 2)
    chips = int(machine.removesuffix("t").rpartition("-")[2])
    assert (not errors(rules.topology(machine, topology))) is flat_shape_exists(chips, topology)


@given(families.filter(lambda family: family.dimensions == 3), topologies)
def test_a_cube_that_is_accepted_is_made_of_whole_hosts_and_every_other_is_refused(
    family: Family, topology: str
) -> None:
    assert family.machines
    parts = [int(part) for part in topology.split("x")]
    for machine in family.machines:
        accepted = not errors(rules.topology(machine.name, topology))
        if accepted:
            assert len(parts) == 3
            assert parts[:2] == sorted(parts[:2])
            assert prod(parts) % machine.chips == 0
            assert machine.chips > 1 or prod(parts) == 1, "a one-chip host forms no slice with others"
        elif parts in ([2, 2, 1], [2, 2, 2], [4, 4, 4], [8, 8, 8], [16, 16, 16]):
            assert machine.chips == 1


@given(machines, topologies)
def test_what_a_message_about_a_topology_allows_is_accepted(machine: str, topology: str) -> None:
    findings = list(rules.topology(machine, topology))
    assume(findings)
    for finding in findings:
        for allowed in finding.allowed.split(", "):
            assert list(rules.topology(machine, allowed)) == []
        assert finding.fix.split()[2] in finding.allowed


@given(slices)
def test_the_hosts_of_a_slice_hold_its_chips(shape: Slice) -> None:
    chips = prod(int(side) for side in shape.topology.split("x"))
    assert shape.hosts * shape.machine.chips == chips == shape.chips
    assert shape.multi_host is (chips > shape.machine.chips)


# --- zones ---------------------------------------------------------------------------------------------------------


@given(families, some.sampled_from([*ZONES, "mars-north1-a", "africa-south1-b", "europe-west4", ""]))
def test_a_zone_is_accepted_exactly_where_the_family_is(family: Family, zone: str) -> None:
    result = list(rules.zone(family.machines[0].name, zone))
    if zone in zones.GKE_ZONES[family.name]:
        assert result == []
        return
    (finding,) = result
    unheard_of = zone.count("-") == 2 and not any(zone.rpartition("-")[0] == z.rpartition("-")[0] for z in ZONES)
    assert finding.severity == ("warning" if unheard_of else "error")
    for allowed in finding.allowed.split(", "):
        assert list(rules.zone(family.machines[0].name, allowed)) == []


@given(families, some.sampled_from(ZONES))
def test_zones_of_pools_in_programs_are_judged_as_those_of_settings(family: Family, zone: str) -> None:
    machine = family.machines[0].name
    pool = Input({"nodeConfig": {"machineType": machine}, "nodeLocations": [zone]})
    assert list(tpu_pools.zone(pool)) == list(rules.zone(machine, zone))


# --- node counts ---------------------------------------------------------------------------------------------------


@given(slices, some.integers(0, 80), some.integers(1, 80))
def test_node_counts_are_any_for_single_hosts_and_all_or_nothing_for_a_slice(
    shape: Slice, least: int, most: int
) -> None:
    result = list(rules.node_counts(shape.machine.name, shape.topology, (least, most)))
    hosts = prod(map(int, shape.topology.split("x"))) // shape.machine.chips
    fits = least <= most and (hosts == 1 or (most == hosts and least in (0, hosts)))
    assert (not result) is fits
    if result and least <= most:
        said = {key: int(value) for key, value in re.findall(r"(\w+) to (\d+)", result[0].fix)}
        limits = (said.get("minNodes", least), said.get("maxNodes", most))
        assert list(rules.node_counts(shape.machine.name, shape.topology, limits)) == []


@given(some.lists(some.integers(0, 40), max_size=5), some.integers(1, 200))
def test_a_pool_has_room_when_every_model_can_start_a_quarter_more(replicas: list[int], most: int) -> None:
    def fits(hosts: int) -> bool:
        # Kubernetes: maxSurge 25 %, rounded up; one model is updated at a time.
        return all(sum(replicas) + (count + 3) // 4 <= hosts for count in replicas)

    result = list(pool_capacity.surge_capacity("p", most, replicas))
    assert (not result) is fits(most)
    for finding in result:
        needed = int(re.findall(r"maxNodes >= (\d+)", finding.allowed)[0])
        assert fits(needed)
        assert not fits(needed - 1), "no host more than is needed"
        assert (finding.rule == "tpu-pool-size") is (sum(replicas) > most)


@given(some.sampled_from(SPREAD), some.lists(some.integers(0, 4), max_size=4), some.integers(1, 300))
def test_a_slice_has_room_when_its_hosts_hold_every_group(shape: Slice, replicas: list[int], most: int) -> None:
    hosts = prod(map(int, shape.topology.split("x"))) // shape.machine.chips
    whole_slices = sum(1 for first in range(0, most - hosts + 1, hosts) if first + hosts <= most)
    assert (not list(multi_host.slices_for_replicas("p", shape, most, replicas))) is (sum(replicas) <= whole_slices)


# --- parallelism ---------------------------------------------------------------------------------------------------

parallel = some.one_of(some.none(), some.sampled_from([1, 2, 3, 4, 8, 16, 32, 64, 256]))


@given(some.sampled_from(SPREAD), parallel, parallel)
def test_a_split_is_accepted_exactly_when_the_server_then_uses_every_device(
    shape: Slice, tensor: int | None, pipeline: int | None
) -> None:
    findings = parallelism.split(tensor, pipeline, [], shape)
    accepted = all(finding.severity == "warning" for finding in findings)
    model = ModelSettings(name="m", uri="hf://a/b", pool="p", tensor_parallel=tensor, pipeline_parallel=pipeline)
    pool = PoolSettings(name="p", machine_type=shape.machine.name, topology=shape.topology, max_nodes=shape.hosts)
    arguments = server_pod.server_arguments(model, pool)
    used = int(arguments[arguments.index("--tensor-parallel-size") + 1])
    if "--pipeline-parallel-size" in arguments:
        used *= int(arguments[arguments.index("--pipeline-parallel-size") + 1])
    devices = prod(map(int, shape.topology.split("x"))) * (2 if shape.machine.name.startswith("tpu7x") else 1)
    assert accepted is (used == devices and pipeline in (None, 1, devices // shape.devices_per_host))


@given(some.sampled_from(SPREAD), some.integers(1, 70), some.one_of(some.none(), some.integers(1, 16)))
def test_a_group_is_accepted_exactly_when_it_is_the_slice(shape: Slice, pods: int, each: int | None) -> None:
    family = accelerators.family_of(shape.machine.name)
    assert family
    selector = {accelerators.TPU.family_label: family.label_value, accelerators.TPU.topology_label: shape.topology}
    parallelism = {"pipeline": pods, **({} if each is None else {"tensor": each})}
    accepted = not list(multi_host.group(Input(parallelism), Input({"nodeSelector": selector})))
    chips = prod(map(int, shape.topology.split("x")))
    machines = [machine for machine in family.machines if shape.topology in family.topologies[machine.name]]
    devices = chips * family.devices_per_chip
    fits = any(pods * machine.chips == chips for machine in machines) and each in (None, devices // pods)
    assert accepted is fits


# --- names ---------------------------------------------------------------------------------------------------------

letters = some.text("abz019-_.A ", max_size=70)


@given(letters, some.sampled_from([24, 30, 38, 63]))
def test_a_label_is_what_kubernetes_calls_one(name: str, limit: int) -> None:
    legal = (
        0 < len(name) <= limit
        and set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        and name[0].isalpha()
        and name[-1] != "-"
    )
    assert (not list(names.label(name, "name", limit))) is legal


@given(some.text("abz019-", min_size=1, max_size=60))
def test_what_is_derived_from_a_models_name_is_a_label_again(name: str) -> None:
    assume(not list(names.label(name, "model name", names.MODEL_NAME_LIMIT)))
    for derived in (kserve.inference_pool, kserve.workload_service, naming.runtime_config, naming.route):
        assert re.fullmatch(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", derived(name))
