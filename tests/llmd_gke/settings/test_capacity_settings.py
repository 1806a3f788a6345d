"""Capacity of a pool as a list in order of preference. Each rule with its whole message."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmd_gke.settings import Checked
from llmd_gke.settings.sections import TpuPoolSettings
from tests.llmd_gke.settings.conftest import Config, Refuse

Accept = Callable[..., Checked]
Entry = dict[str, object]
POOL = "llmd-gke:tpuPools[0]"
ON_DEMAND: Entry = {"kind": "on-demand"}
SPOT: Entry = {"kind": "spot"}
RESERVED: Entry = {"kind": "reservation", "reservation": {"name": "mine"}, "maxNodes": 2}


def ordered(config: Config, *entries: object, **over: object) -> Config:
    """The stack whose pool has that list of capacities, in a region with two zones of v6e and flex-start."""
    config["llmd-gke:cluster"]["zone"] = "us-east5-a"
    config["llmd-gke:tpuPools"][0].update(capacity=list(entries), maxNodes=4, earlyHosts=0, **over)
    return config


def made(checked: Checked) -> tuple[TpuPoolSettings, ...]:
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


def test_a_list_of_reclaimable_hosts_is_accepted_where_the_settings_say_so(config: Config, accepted: Accept) -> None:
    assert made(accepted(ordered(config, SPOT, acceptReclaimable=True)))


def test_the_cluster_may_be_in_a_zone_without_the_family_if_every_entry_has_its_zone(
    config: Config, accepted: Accept
) -> None:
    changed = ordered(config, {"kind": "on-demand", "zone": "us-east5-a"}, {"kind": "spot", "zone": "us-east5-b"})
    changed["llmd-gke:cluster"]["zone"] = "us-east5-c"
    assert [pool.zone for pool in made(accepted(changed))] == ["us-east5-a", "us-east5-b"]


@pytest.mark.parametrize(
    ("entries", "warned"),
    [((SPOT, ON_DEMAND), True), (({"kind": "flex-start"}, ON_DEMAND), True), ((ON_DEMAND, SPOT), False)],
)
def test_a_list_that_begins_with_reclaimable_hosts_is_accepted_with_a_warning(
    config: Config, accepted: Accept, entries: tuple[Entry, ...], warned: bool
) -> None:
    def named(checked: Checked) -> list[str]:
        return [one.key for one in checked.warnings if "comes first" in one.finding.problem]

    assert named(accepted(ordered(config, *entries))) == ([f"{POOL}.capacity"] if warned else [])
    assert named(accepted(ordered(config, *entries, acceptReclaimable=True))) == []


REFUSED: dict[str, tuple[list[object], Entry, str]] = {
    "an empty list": (
        [],
        {},
        ".capacity = []\n"
        "    the list of capacities is empty: no host could ever start  [capacity-list]\n"
        "    allowed: 1 to 10 entries\n"
        "    fix:     for example on-demand first, then spot",
    ),
    "nothing but hosts that Google may reclaim": (
        [{"kind": "flex-start"}, SPOT],
        {},
        '.capacity = ["flex-start", "spot"]\n'
        "    Google may reclaim every host: the list has only flex-start and spot, so all replicas can be lost at once"
        "  [capacity-reclaimable]\n"
        "    allowed: at least one entry of kind on-demand or reservation\n"
        "    fix:     add an entry of kind on-demand, or set acceptReclaimable: true",
    ),
    "an entry twice": (
        [ON_DEMAND, {"kind": "on-demand", "zone": "us-east5-a"}],
        {},
        '.capacity[1] = "on-demand"\n'
        "    on-demand in us-east5-a is already in the list, as entry 1  [capacity-repeated]\n"
        "    allowed: each kind once per zone, and each reservation once\n"
        "    fix:     remove one of them, or set another zone",
    ),
    "two node pools of one name": (
        [{**RESERVED, "name": "x"}, {"kind": "on-demand", "name": "x"}],
        {},
        '.capacity[1].name = "v6e4-x"\n'
        "    another node pool has the name v6e4-x  [unique-name]\n"
        "    fix:     set the entry's name, which becomes the last part of the node pool's name",
    ),
    "a name that GKE refuses": (
        [{"kind": "on-demand", "name": "Mine"}],
        {},
        '.capacity[0].name = "v6e4-Mine"\n'
        "    'v6e4-Mine' is not a valid node pool name  [name-characters]\n"
        "    allowed: lower-case letters, digits and dashes; starts with a letter, does not end with a dash\n"
        "    fix:     for example v6e4-mine",
    ),
    "a kind that does not exist": (
        [ON_DEMAND, {"kind": "spot-vm"}],
        {},
        '.capacity[1].kind = "spot-vm"\n'
        "    this is not one of the allowed values  [wrong-value]\n"
        "    allowed: on-demand, spot, reservation, flex-start\n"
        "    fix:     kind: spot",
    ),
    "a kind instead of an entry": (
        ["on-demand"],
        {},
        '.capacity[0] = "on-demand"\n'
        "    this must be a map of settings  [wrong-value]\n"
        "    allowed: kind, zone, reservation, maxRunHours, minNodes, maxNodes, name\n"
        "    fix:     - kind: on-demand",
    ),
    "a word that is almost a kind": (
        ["Reserved"],
        {},
        '.capacity[0] = "Reserved"\n'
        "    this must be a map of settings  [wrong-value]\n"
        "    allowed: kind, zone, reservation, maxRunHours, minNodes, maxNodes, name\n"
        "    fix:     - kind: reservation",
    ),
    "a number instead of an entry": (
        [4],
        {},
        ".capacity[0] = 4\n"
        "    this must be a map of settings  [wrong-value]\n"
        "    allowed: kind, zone, reservation, maxRunHours, minNodes, maxNodes, name\n"
        "    fix:     - kind: on-demand",
    ),
    "a zone of another region": (
        [ON_DEMAND, {"kind": "spot", "zone": "europe-west4-a"}],
        {},
        '.capacity[1].zone = "europe-west4-a"\n'
        "    europe-west4-a is not in the cluster's region, us-east5  [tpu-pool-region]\n"
        "    allowed: a zone of us-east5\n"
        "    fix:     remove the pool's zone, or create another stack for that region",
    ),
    "a reservation without its name": (
        [{"kind": "reservation"}, ON_DEMAND],
        {},
        '.capacity[0].kind = "reservation"\n'
        "    capacity reservation requires the name of a reservation  [tpu-reservation]\n"
        "    allowed: reservation: {name: NAME}, and project if another project shares it\n"
        "    fix:     set reservation, or use capacity on-demand",
    ),
    "a limit above that of the pool": (
        [{"kind": "on-demand", "maxNodes": 5}],
        {},
        ".capacity[0].maxNodes = 5\n"
        "    the entry allows 5 hosts, but its pool only 4  [capacity-room]\n"
        "    allowed: at most 4, the pool's maxNodes\n"
        "    fix:     lower it, or raise maxNodes of the pool",
    ),
    "limits that add up to less than the pool": (
        [RESERVED, {"kind": "on-demand", "maxNodes": 1}],
        {},
        ".maxNodes = 4\n"
        "    the entries of pool v6e4 allow 3 hosts together, but its maxNodes is 4  [capacity-room]\n"
        "    allowed: maxNodes of the entries that add up to 4 or more\n"
        "    fix:     raise maxNodes of an entry, or set maxNodes of the pool to 3",
    ),
    "hosts that always run, more than the pool has": (
        [{**ON_DEMAND, "minNodes": 4}, {**SPOT, "minNodes": 4}],
        {},
        ".maxNodes = 4\n"
        "    the entries of pool v6e4 always run 8 hosts together, but its maxNodes is 4  [capacity-room]\n"
        "    allowed: minNodes of the entries that add up to at most 4\n"
        "    fix:     lower minNodes of an entry, or set maxNodes of the pool to 8",
    ),
    "an entry whose hosts that always run are more than the pool has": (
        [{**ON_DEMAND, "minNodes": 5}, SPOT],
        {},
        ".capacity[0].minNodes = 5\n"
        "    minNodes 5 is more than maxNodes 4  [tpu-node-count]\n"
        "    allowed: minNodes <= maxNodes\n"
        "    fix:     set maxNodes to 5 or more",
    ),
    "hosts that always run, of no entry": (
        [ON_DEMAND, SPOT],
        {"minNodes": 1},
        ".minNodes = 1\n"
        "    minNodes is ambiguous beside a list of capacities  [capacity-list]\n"
        "    allowed: minNodes of an entry of capacity\n"
        "    fix:     move minNodes into the entry that it is for",
    ),
}


def test_the_hosts_that_always_run_may_be_all_that_the_pool_has(config: Config, accepted: Accept) -> None:
    entries = {**ON_DEMAND, "minNodes": 3}, {**SPOT, "minNodes": 1}
    (pool,) = accepted(ordered(config, *entries)).settings.pools
    assert pool.kept_nodes == pool.max_nodes == 4


def test_a_budget_cannot_be_passed_by_hosts_that_always_run(config: Config, refused: Refuse) -> None:
    config["llmd-gke:budget"] = {"usdPerHour": 49}
    config["llmd-gke:tpuPools"][0].update(
        capacity=[{**ON_DEMAND, "minNodes": 4}, {**SPOT, "minNodes": 4}], maxNodes=4, earlyHosts=0
    )
    assert "[capacity-room]" in refused(config)


@pytest.mark.parametrize("name", REFUSED)
def test_a_list_that_cannot_work_is_refused(config: Config, refused: Refuse, name: str) -> None:
    entries, over, message = REFUSED[name]
    assert refused(ordered(config, *entries, **over)) == f"Pulumi.eu4a.yaml has 1 problem:\n\n  {POOL}{message}"


def test_more_entries_than_gke_gets_through_are_refused(config: Config, refused: Refuse) -> None:
    many = [{"kind": "reservation", "reservation": {"name": f"r{n}"}, "name": f"r{n}"} for n in range(11)]
    assert (
        "11 capacities: GKE tries the first again after five minutes, before it reaches the last  "
        "[capacity-list]\n"
        "    allowed: 1 to 10 entries\n"
        "    fix:     remove those that rarely have hosts"
    ) in refused(ordered(config, *many))


def test_flex_start_is_judged_in_the_zone_of_its_entry(config: Config, refused: Refuse) -> None:
    changed = ordered(config, ON_DEMAND, {"kind": "flex-start"})
    changed["llmd-gke:cluster"]["zone"] = "europe-west4-a"
    message = refused(changed)
    assert f'{POOL}.capacity[1].kind = "flex-start"\n    v6e has no flex-start capacity in europe-west4-a' in message


def test_a_slice_of_several_hosts_has_one_capacity(config: Config, refused: Refuse) -> None:
    message = refused(ordered(config, ON_DEMAND, SPOT, topology="4x4"))
    assert "pool v6e4 is a 4x4 slice of 4 hosts, which GKE creates in one node pool" in message


@pytest.mark.parametrize("setting", ["acceptReclaimable", "returnToPreferred"])
def test_a_setting_about_the_order_needs_a_list(config: Config, refused: Refuse, setting: str) -> None:
    config["llmd-gke:tpuPools"][0][setting] = True
    assert refused(config) == (
        f"Pulumi.eu4a.yaml has 1 problem:\n\n  {POOL}.{setting} = true\n"
        f"    {setting} has no effect: the pool has one capacity, and no list of them  [capacity-list]\n"
        f"    allowed: {setting} with a list as capacity\n"
        f"    fix:     remove {setting}, or make capacity a list"
    )


def test_weights_on_a_disk_keep_a_model_in_one_zone_and_weights_in_a_bucket_do_not(
    config: Config, accepted: Accept, refused: Refuse
) -> None:
    zones = (ON_DEMAND, {"kind": "spot", "zone": "us-east5-b"})
    changed = ordered(config, *zones)
    changed["llmd-gke:models"][0]["uri"] = "pvc://weights/qwen"
    assert (
        "the disk behind pvc://weights/qwen is in one zone, but the pool has hosts in us-east5-a, us-east5-b: pods in "
        "the other zones stay Pending  [capacity-zone]"
    ) in refused(changed)
    changed["llmd-gke:models"][0]["uri"] = "gs://some-bucket/qwen"
    assert accepted(changed)
    changed["llmd-gke:models"][0]["uri"] = "pvc://weights/qwen"
    assert accepted(ordered(changed, ON_DEMAND, SPOT))


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


def test_the_budget_counts_the_dearest_hosts_that_may_run_together(
    config: Config, accepted: Accept, refused: Refuse
) -> None:
    changed = ordered(config, SPOT, ON_DEMAND)
    changed["llmd-gke:budget"] = {"usdPerHour": 60}
    assert accepted(changed)
    changed["llmd-gke:budget"] = {"usdPerHour": 30}
    message = refused(changed)
    assert "with every pool at its maximum the stack costs" in message
    cheaper = ordered(changed, {**SPOT, "maxNodes": 3}, {**ON_DEMAND, "maxNodes": 1})
    assert accepted(cheaper)
