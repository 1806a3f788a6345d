"""The TPU table agrees with itself and with what Google publishes."""

from __future__ import annotations

import re
from collections import Counter
from math import prod

import pytest

from llmd_gke.catalog import accelerators, zones
from llmd_gke.catalog.accelerators import FAMILIES, Family, Slice

SLICES = [(family, shape) for family in FAMILIES for shape in family.slices()]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
every_slice = pytest.mark.parametrize(
    ("family", "shape"), SLICES, ids=[f"{shape.machine.name} {shape.topology}" for _, shape in SLICES]
)


@every_slice
def test_a_slice_is_made_of_whole_machines(family: Family, shape: Slice) -> None:
    assert shape.chips % shape.machine.chips == 0
    assert shape.hosts * shape.machine.chips == shape.chips
    assert shape.multi_host == (shape.chips > shape.machine.chips)


@every_slice
def test_a_topology_has_the_familys_dimensions(family: Family, shape: Slice) -> None:
    assert re.fullmatch(r"\d+(x\d+)*", shape.topology)
    assert len(shape.topology.split("x")) == family.dimensions
    assert prod(map(int, shape.topology.split("x"))) == shape.chips


@every_slice
def test_a_slice_is_found_by_machine_and_topology(family: Family, shape: Slice) -> None:
    assert accelerators.find_slice(shape.machine.name, shape.topology) == shape


@every_family
def test_every_machine_has_shapes_and_every_shape_a_machine(family: Family) -> None:
    assert [machine.name for machine in family.machines] == list(family.shapes)
    assert all(family.shapes.values())
    assert all(len(set(shapes)) == len(shapes) for shapes in family.shapes.values())


@every_family
def test_the_first_shape_of_a_machine_is_a_single_host(family: Family) -> None:
    assert family.machines
    for machine in family.machines:
        first = accelerators.find_slice(machine.name, family.shapes[machine.name][0])
        assert first is not None
        assert not first.multi_host


@every_family
def test_a_machines_name_ends_in_its_chips(family: Family) -> None:
    assert family.machines
    for machine in family.machines:
        assert machine.name.endswith(f"-{machine.chips}t")
        assert machine.name.startswith(family.quota_family.lower())
        assert machine.vcpus > 0
        assert machine.memory_gb > 0


@every_family
def test_labels_and_quotas_use_their_own_vocabularies(family: Family) -> None:
    assert family.accelerator.startswith("tpu")
    assert family.accelerator == family.accelerator.lower()
    assert family.quota == family.quota.upper()
    assert family.spot_quota.startswith("PREEMPTIBLE_TPU_")
    assert family.boot_disks


@every_family
def test_every_family_is_offered_somewhere(family: Family) -> None:
    assert zones.GKE_ZONES[family.name]


def test_names_are_unique() -> None:
    for names in (
        [family.name for family in FAMILIES],
        [family.accelerator for family in FAMILIES],
        [family.quota_family for family in FAMILIES],
        [family.spot_quota for family in FAMILIES],
        list(accelerators.machine_types()),
    ):
        assert [name for name, count in Counter(names).items() if count > 1] == []


def test_v6e_is_what_google_documents() -> None:
    family = accelerators.family_of("ct6e-standard-4t")
    assert family is not None
    assert (family.name, family.accelerator, family.hbm_gb) == ("v6e", "tpu-v6e-slice", 32)
    assert family.boot_disks == ("hyperdisk-balanced",)
    single = {(s.machine.name, s.topology) for s in family.slices() if not s.multi_host}
    assert single == {("ct6e-standard-1t", "1x1"), ("ct6e-standard-4t", "2x2"), ("ct6e-standard-8t", "2x4")}


def test_what_the_catalogue_does_not_know_is_none() -> None:
    assert accelerators.family_of("e2-standard-4") is None
    assert accelerators.topologies("e2-standard-4") == ()
    assert accelerators.find_slice("e2-standard-4", "2x2") is None
    assert accelerators.find_slice("ct6e-standard-4t", "2x3") is None
