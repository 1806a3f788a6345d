"""Capacity of a pool as a list in order of preference. Each rule with its whole message."""

from __future__ import annotations

from llmd_gke.settings import Checked, PoolSettings
from tests.llmd_gke.settings.conftest import Accept, Config, Refuse

Entry = dict[str, object]
ON_DEMAND: Entry = {"kind": "on-demand"}
SPOT: Entry = {"kind": "spot"}
RESERVED: Entry = {"kind": "reservation", "reservation": {"name": "mine"}, "maxNodes": 2}


def ordered(config: Config, *entries: object, **over: object) -> Config:
    """The stack whose pool has that list of capacities, in a region with two zones of v6e and flex-start."""
    config["llmd-gke:cluster"]["zone"] = "us-east5-a"
    config["llmd-gke:pools"][0].update(capacity=list(entries), maxNodes=4, earlyHosts=0, **over)
    return config


def made(checked: Checked) -> tuple[PoolSettings, ...]:
    return checked.settings.node_pools


def test_a_list_becomes_one_node_pool_for_each_entry_in_its_order(config: Config, accepted: Accept) -> None:
    entries = (RESERVED, ON_DEMAND, {"kind": "on-demand", "zone": "us-east5-b"}, {"kind": "flex-start"}, SPOT)
    pools = made(accepted(ordered(config, *entries)))
    assert [(pool.name, pool.capacity, pool.zone_in("us-east5-a"), pool.max_nodes) for pool in pools] == [
        ("v6e4-reservation", "reservation", "us-east5-a", 2),
        ("v6e4-on-demand", "on-demand", "us-east5-a", 4),
        ("v6e4-on-demand-b", "on-demand", "us-east5-b", 4),
        ("v6e4-flex-start", "flex-start", "us-east5-a", 4),
        ("v6e4-spot", "spot", "us-east5-a", 4),
    ]


def test_a_single_capacity_remains_one_node_pool_of_the_pools_name_without_a_class(
    config: Config, accepted: Accept
) -> None:
    (pool,) = accepted(config).settings.pools
    assert (pool.node_pools, pool.compute_class) == ((pool,), None)


def test_two_reservations_in_one_zone_have_names_of_their_own(config: Config, accepted: Accept) -> None:
    other = {"kind": "reservation", "reservation": {"name": "other"}, "name": "other"}
    pools = made(accepted(ordered(config, {**RESERVED, "name": "first"}, other, ON_DEMAND)))
    assert [pool.name for pool in pools] == ["v6e4-first", "v6e4-other", "v6e4-on-demand"]


def test_the_cluster_may_be_in_a_zone_without_the_family_if_every_entry_has_its_zone(
    config: Config, accepted: Accept
) -> None:
    changed = ordered(config, {"kind": "on-demand", "zone": "us-east5-a"}, {"kind": "spot", "zone": "us-east5-b"})
    changed["llmd-gke:cluster"]["zone"] = "us-east5-c"
    assert [pool.zone for pool in made(accepted(changed))] == ["us-east5-a", "us-east5-b"]


def test_the_hosts_that_always_run_may_be_all_that_the_pool_has(config: Config, accepted: Accept) -> None:
    entries = {**ON_DEMAND, "minNodes": 3}, {**SPOT, "minNodes": 1}
    (pool,) = accepted(ordered(config, *entries)).settings.pools
    assert pool.kept_nodes == pool.max_nodes == 4


def test_more_entries_than_gke_gets_through_are_refused(config: Config, refused: Refuse) -> None:
    many = [{"kind": "reservation", "reservation": {"name": f"r{n}"}, "name": f"r{n}"} for n in range(11)]
    assert (
        "11 capacities: GKE tries the first again after five minutes, before it reaches the last  "
        "[capacity-list]\n"
        "    allowed: 1 to 10 entries\n"
        "    fix:     remove those that rarely have hosts"
    ) in refused(ordered(config, *many))


def test_the_price_of_a_list_is_that_of_its_dearest_hosts(config: Config, accepted: Accept) -> None:
    dearest = accepted(ordered(config, ON_DEMAND)).settings.totals
    assert accepted(ordered(config, SPOT, ON_DEMAND)).settings.totals == dearest
    # No more than two of the three hosts are reserved.
    capped = accepted(ordered(config, RESERVED, SPOT, {"kind": "flex-start"})).settings.totals.usd_per_hour
    cheapest = accepted(ordered(config, SPOT, acceptReclaimable=True)).settings.totals.usd_per_hour
    assert cheapest is not None
    assert capped is not None
    assert dearest.usd_per_hour is not None
    assert cheapest < capped < dearest.usd_per_hour


def test_quota_is_needed_of_each_kind_and_never_for_more_hosts_than_the_pool_has(
    config: Config, accepted: Accept
) -> None:
    entries = (RESERVED, ON_DEMAND, {"kind": "flex-start"}, {**SPOT, "maxNodes": 1})
    (pool,) = accepted(ordered(config, *entries)).settings.pools
    assert {name.split()[0]: nodes for name, nodes in pool.quotas.items()} == {
        "TPUS_PER_TPU_FAMILY": 4,
        "PREEMPTIBLE_TPU_V6E": 4,
    }
