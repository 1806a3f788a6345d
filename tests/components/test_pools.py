"""TPU pools of every kind, as GKE gets them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from llmd_gke.graph.resources import Graph, ResourceNode
from operations.comment.policy_messages import run_policies
from tests.components import kinds

Record = Callable[..., Graph]
POLICY = "gcp:compute/resourcePolicy:ResourcePolicy"
V6E = {"machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 4}
RESERVED = {"capacity": "reservation", "reservation": {"name": "mine", "project": "owner-project"}}
POOLS: dict[str, dict[str, object]] = {
    "v6e4": {**V6E, "diskGb": 150, "earlyHosts": 1},
    "spot": {**V6E, "capacity": "spot"},
    "reserved": {**V6E, **RESERVED},
    "flex": {**V6E, "capacity": "flex-start"},
    "flex-day": {**V6E, "capacity": "flex-start", "maxRunHours": 24},
    "slice": {**V6E, "topology": "4x4"},
    "slice-always": {**V6E, "topology": "4x4", "minNodes": 4},
    "always": {**V6E, "earlyHosts": 1, "minNodes": 2},
    "zone-b": {**V6E, "zone": "us-east5-b"},
}
"""Pools of one stack, each with the model's beside it."""
UNUSED = {"reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}}
BOUNDS = {"minNodeCount": 0, "maxNodeCount": 4, "locationPolicy": "ANY"}


def in_zone(record: Record, zone: str, pools: Mapping[str, Mapping[str, object]]) -> Graph:
    """The graph of pools in a zone, the first of which has a model that one chip of every family holds."""
    return record(
        {
            "llmd-gke:cluster": {"name": "llmd-eu4a", "zone": zone, "minVersion": "1.35"},
            "llmd-gke:pools": [{"name": name, **pool} for name, pool in pools.items()],
            "llmd-gke:models": [{"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": next(iter(pools))}],
            "llmd-gke:budget": {"usdPerHour": 900},
        },
        preview=True,
    )


Pools = Callable[[str], ResourceNode]


@pytest.fixture
def pools(record: Record) -> Pools:
    return lambda name: in_zone(record, "us-east5-a", POOLS).find(kinds.NODE_POOL, f"{name}-nodes")


def config_of(node: ResourceNode) -> Mapping[str, object]:
    result = node.inputs["nodeConfig"]
    assert isinstance(result, dict)
    return result


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("v6e4", UNUSED),
        ("spot", {**UNUSED, "spot": True}),
        (
            "reserved",
            {
                "reservationAffinity": {
                    "consumeReservationType": "SPECIFIC_RESERVATION",
                    "key": "compute.googleapis.com/reservation-name",
                    "values": ["projects/owner-project/reservations/mine"],
                }
            },
        ),
        ("flex", {**UNUSED, "flexStart": True, "maxRunDuration": "604800s"}),
        ("flex-day", {**UNUSED, "flexStart": True, "maxRunDuration": "86400s"}),
    ],
)
def test_capacity_is_said_in_full_and_flex_start_is_not_repaired(
    pools: Pools, name: str, config: dict[str, object]
) -> None:
    pool, flex = pools(name), "flexStart" in config
    modes = {"spot", "flexStart", "maxRunDuration", "reservationAffinity"}
    assert {key: value for key, value in config_of(pool).items() if key in modes} == config
    assert pool.inputs["management"] == {"autoRepair": not flex, "autoUpgrade": True}
    assert ("upgradeSettings" in pool.inputs) is not flex, "GKE upgrades flex-start hosts in a way of its own"
    assert (pool.inputs["autoscaling"], "nodeCount" in pool.inputs) == (BOUNDS, False)


def test_a_multi_host_slice_is_compact_in_one_zone_and_all_or_nothing(pools: Pools) -> None:
    pool, always = pools("slice"), pools("slice-always")
    assert pool.inputs["placementPolicy"] == {"type": "COMPACT", "tpuTopology": "4x4"}
    assert pool.inputs["nodeLocations"] == ["us-east5-a"]
    assert pool.inputs["autoscaling"] == BOUNDS
    assert pool.inputs["initialNodeCount"] == 0
    assert pool.inputs["maxPodsPerNode"] == 15
    assert pool.inputs["upgradeSettings"] == {"strategy": "SURGE", "maxSurge": 0, "maxUnavailable": 1}
    assert config_of(pool)["gvnic"] == {"enabled": True}
    assert always.inputs["nodeCount"] == 4
    assert not {"autoscaling", "initialNodeCount"} & always.inputs.keys()


def test_a_pool_starts_with_its_early_hosts_or_with_those_that_always_run_if_they_are_more(pools: Pools) -> None:
    early, always, other = pools("v6e4"), pools("always"), pools("zone-b")
    assert (early.inputs["initialNodeCount"], early.inputs["autoscaling"]) == (1, BOUNDS)
    assert always.inputs["initialNodeCount"] == 2
    assert (other.inputs["initialNodeCount"], other.inputs["nodeLocations"]) == (0, ["us-east5-b"])


def test_hosts_without_a_public_price_are_a_warning_of_the_settings_and_no_violation(record: Record) -> None:
    diagnostics = run_policies("eu4a", in_zone(record, "us-east5-a", POOLS))
    assert [one for one in diagnostics if one.mandatory] == []


def test_a_tpu7x_slice_has_a_workload_policy_instead(record: Record) -> None:
    machine = {"machineType": "tpu7x-standard-4t", "diskGb": 150}
    graph = in_zone(
        record,
        "us-central1-c",
        {
            "v6e4": {**machine, "topology": "2x2x1", "maxNodes": 4},
            "more": {**machine, "topology": "2x2x2", "maxNodes": 2},
        },
    )
    policy, pool = graph.find(POLICY), graph.find(kinds.NODE_POOL, "more-nodes")
    assert policy.inputs["name"] == "llmd-eu4a-more-2x2x2"
    assert policy.inputs["workloadPolicy"] == {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "2x2x2"}
    assert pool.inputs["placementPolicy"] == {"type": "", "policyName": "llmd-eu4a-more-2x2x2", "tpuTopology": "2x2x2"}
    assert policy.urn in graph.before(pool)
    # A renamed policy would be PATCHed under its new name, which Google answers with 404.
    assert policy.replace_on_changes == ("name",)
    assert {"placementPolicy", "nodeConfig.machineType"} <= set(pool.replace_on_changes)
    assert "placementPolicy" not in graph.find(kinds.NODE_POOL, "v6e4-nodes").inputs


def test_gpu_hosts_have_their_gpus_with_a_driver_and_the_taint_that_keeps_other_pods_away(record: Record) -> None:
    graph = in_zone(record, "us-central1-a", {"t4": {"machineType": "n1-standard-8", "gpus": 2, "maxNodes": 4}})
    config = config_of(graph.find(kinds.NODE_POOL, "t4-nodes"))
    driver = {"gpuDriverVersion": "LATEST"}
    assert config["guestAccelerators"] == [
        {"type": "nvidia-tesla-t4", "count": 2, "gpuDriverInstallationConfig": driver}
    ]
    assert config["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]
    assert "linuxNodeConfig" not in config


def test_tpu_hosts_have_transparent_huge_pages_and_system_nodes_do_not(graph: Graph) -> None:
    always = {"transparentHugepageEnabled": "TRANSPARENT_HUGEPAGE_ENABLED_ALWAYS"}
    for config in map(config_of, kinds.tpu_pool(graph)):
        assert config.get("linuxNodeConfig") == (None if "guestAccelerators" in config else always)
    assert "linuxNodeConfig" not in str([pool.inputs for pool in kinds.system_pool(graph)])
