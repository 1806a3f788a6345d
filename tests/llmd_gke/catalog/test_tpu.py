"""The TPU table agrees with itself and with what Google publishes."""

from __future__ import annotations

import pytest

from llmd_gke.catalog import accelerators
from llmd_gke.catalog.accelerators import TPU, Family

every_family = pytest.mark.parametrize("family", TPU.families, ids=lambda family: family.name)


@every_family
def test_the_first_shape_of_a_machine_is_a_single_host(family: Family) -> None:
    assert family.machines
    for machine in family.machines:
        first = accelerators.find_slice(machine.name, family.topologies[machine.name][0])
        assert first is not None
        assert not first.multi_host


def test_what_the_catalogue_does_not_know_is_none() -> None:
    assert accelerators.family_of("e2-standard-4") is None
    assert accelerators.topologies("e2-standard-4") == ()
    assert accelerators.find_slice("e2-standard-4", "2x2") is None
    assert accelerators.find_slice("ct6e-standard-4t", "2x3") is None
