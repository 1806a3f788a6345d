"""The TPU table agrees with itself and with what Google publishes."""

from __future__ import annotations

import pytest

from llmd_gke.catalog import accelerators
from llmd_gke.catalog.accelerators import TPU, Family

SLICES = [(family, shape) for family in TPU.families for shape in family.slices()]
every_family = pytest.mark.parametrize("family", TPU.families, ids=lambda family: family.name)
every_slice = pytest.mark.parametrize(
    ("family", "shape"), SLICES, ids=[f"{shape.machine.name} {shape.topology}" for _, shape in SLICES]
)


@every_family
def test_the_first_shape_of_a_machine_is_a_single_host(family: Family) -> None:
    assert family.machines
    for machine in family.machines:
        first = accelerators.find_slice(machine.name, family.topologies[machine.name][0])
        assert first is not None
        assert not first.multi_host


def test_v6e_is_what_google_documents() -> None:
    family = accelerators.family_of("ct6e-standard-4t")
    assert family is not None
    assert (family.name, family.label_value, family.hbm_gb) == ("v6e", "tpu-v6e-slice", 32)
    assert family.boot_disks == ("hyperdisk-balanced",)
    single = {(s.machine.name, s.topology) for s in family.slices() if not s.multi_host}
    assert single == {("ct6e-standard-1t", "1x1"), ("ct6e-standard-4t", "2x2"), ("ct6e-standard-8t", "2x4")}


def test_what_the_catalogue_does_not_know_is_none() -> None:
    assert accelerators.family_of("e2-standard-4") is None
    assert accelerators.topologies("e2-standard-4") == ()
    assert accelerators.find_slice("e2-standard-4", "2x2") is None
    assert accelerators.find_slice("ct6e-standard-4t", "2x3") is None
