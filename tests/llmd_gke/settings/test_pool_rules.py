from __future__ import annotations

import pytest

from llmd_gke.catalog.accelerators import FAMILIES, Family
from llmd_gke.catalog.zones import GKE_ZONES
from tests.llmd_gke.settings.conftest import HEAD, Accept, Config, Refuse


def pool(**over: object) -> dict[str, object]:
    """A second pool, beside the one that the model uses."""
    return {"name": "more", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 4, **over}


def with_pool(config: Config, **over: object) -> Config:
    config["llmd-gke:pools"].append(pool(**over))
    return config


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_family_has_a_pool_that_settings_accept(config: Config, accepted: Accept, family: Family) -> None:
    machine = family.machines[-1]
    zone = sorted(GKE_ZONES[family.name])[0]
    config["llmd-gke:cluster"].update(zone=zone, minVersion="1.35")
    shape = family.topologies[machine.name][0]
    of_kind = {"topology": shape} if family.dimensions > 1 else {"gpus": int(shape)}
    config["llmd-gke:pools"] = [{"name": "v6e4", "machineType": machine.name, "maxNodes": 4, **of_kind}]
    result = accepted(config).settings.pools[0]
    assert (result.family, result.slice.hosts) == (family, 1)


def test_a_flex_start_pool_of_single_hosts_that_always_run_has_an_autoscaler_and_is_accepted(
    config: Config, accepted: Accept
) -> None:
    config["llmd-gke:cluster"]["zone"] = "us-east5-a"
    single = accepted(with_pool(config, capacity="flex-start", minNodes=4)).settings.pools[1]
    assert (single.min_nodes, single.max_nodes, single.has_fixed_size) == (4, 4, False)


def test_a_pool_may_be_in_another_zone_of_the_region(config: Config, accepted: Accept) -> None:
    with_pool(config, machineType="ct5lp-hightpu-4t", zone="europe-west4-b")
    settings = accepted(config).settings
    assert settings.pools[1].zone_in(settings.cluster.zone) == "europe-west4-b"


@pytest.mark.parametrize(
    ("reservation", "path"),
    [
        ({"name": "mine"}, "mine"),
        ({"name": "mine", "project": "owner-project"}, "projects/owner-project/reservations/mine"),
        ({"name": "mine", "block": "one"}, "mine/reservationBlocks/one"),
    ],
)
def test_a_reservation_is_named_as_gke_takes_it(
    config: Config, accepted: Accept, reservation: dict[str, str], path: str
) -> None:
    result = accepted(with_pool(config, capacity="reservation", reservation=reservation)).settings.pools[1]
    assert result.reservation is not None
    assert result.reservation.path == path


@pytest.mark.parametrize(
    ("over", "quota"),
    [
        ({"capacity": "on-demand"}, "TPUS_PER_TPU_FAMILY"),
        ({"capacity": "reservation", "reservation": {"name": "mine"}}, "TPUS_PER_TPU_FAMILY"),
        ({"capacity": "spot"}, "PREEMPTIBLE_TPU_V6E"),
        ({"machineType": "ct5lp-hightpu-4t", "zone": "europe-west4-b"}, "TPU_LITE_PODSLICE_V5"),
    ],
)
def test_a_pool_knows_the_quota_it_draws_on(
    config: Config, accepted: Accept, over: dict[str, object], quota: str
) -> None:
    assert accepted(with_pool(config, **over)).settings.pools[1].quota == quota


def test_the_name_of_a_slices_policy_fits_compute_engine(config: Config, accepted: Accept, refused: Refuse) -> None:
    longest = "p" * 29
    slice_ = {"machineType": "tpu7x-standard-4t", "topology": "16x16x16", "maxNodes": 1024, "updatesNeedStop": True}
    cluster = {"name": "c" * 24, "zone": "us-central1-c", "minVersion": "1.35"}
    config["llmd-gke:cluster"].update(cluster)
    with_pool(config, **slice_, name=longest)
    config["llmd-gke:pools"][0].update(machineType="tpu7x-standard-4t", topology="2x2x1")
    result = accepted(config).settings.pools[1]
    assert len(result.workload_policy_name("c" * 24)) == 63
    config["llmd-gke:pools"][1]["name"] = longest + "p"
    policy = f"{'c' * 24}-{longest}p-16x16x16"
    assert refused(config) == (
        f'{HEAD}  llmd-gke:pools[1].name = "{longest}p"\n'
        f"    the slice's resource policy '{policy}' has 64 characters  [name-length]\n"
        "    allowed: at most 63; it consists of the names of cluster and pool, and the topology\n"
        f"    fix:     for example {longest}"
    )
