"""TPU pools of every kind, as GKE gets them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from llmd_gke.catalog.accelerators import FAMILIES, Family
from llmd_gke.catalog.zones import GKE_ZONES
from llmd_gke.graph.resources import Graph, ResourceNode
from tests.components import kinds
from tests.components.kinds import of

Record = Callable[..., Graph]
SMALL = {"llmd-gke:models": [{"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e4"}]}
"""A model that one chip of every family holds."""
MODEL_POOL = {"name": "v6e4", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 4, "diskGb": 150}
POLICY = "gcp:compute/resourcePolicy:ResourcePolicy"


def config_of(node: ResourceNode) -> Mapping[str, object]:
    result = node.inputs["nodeConfig"]
    assert isinstance(result, dict)
    return result


def one(record: Record, /, zone: str = "europe-west4-a", **over: Any) -> tuple[Graph, ResourceNode]:
    """The graph with a pool of that kind beside the model's, and the pool."""
    kind = {"name": "more", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 4, **over}
    graph = record(
        {
            "llmd-gke:cluster": {"name": "llmd-eu4a", "zone": zone, "minVersion": "1.35"},
            "llmd-gke:pools": [MODEL_POOL, kind],
        },
        preview=True,
    )
    return graph, graph.find(kinds.NODE_POOL, "more-nodes")


@pytest.mark.parametrize(
    ("capacity", "config"),
    [
        ({"capacity": "on-demand"}, {"reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}}),
        ({"capacity": "spot"}, {"reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}, "spot": True}),
        (
            {"capacity": "reservation", "reservation": {"name": "mine", "project": "owner-project"}},
            {
                "reservationAffinity": {
                    "consumeReservationType": "SPECIFIC_RESERVATION",
                    "key": "compute.googleapis.com/reservation-name",
                    "values": ["projects/owner-project/reservations/mine"],
                }
            },
        ),
    ],
)
def test_capacity_is_said_in_full(record: Record, capacity: dict[str, Any], config: dict[str, object]) -> None:
    _, pool = one(record, **capacity)
    modes = {"spot", "flexStart", "maxRunDuration", "reservationAffinity"}
    assert {key: value for key, value in config_of(pool).items() if key in modes} == config
    assert pool.inputs["management"] == {"autoRepair": True, "autoUpgrade": True}


def test_flex_start_is_not_repaired_and_has_an_end(record: Record) -> None:
    for hours, seconds in ((None, "604800s"), (24, "86400s")):
        over: dict[str, Any] = {"maxRunHours": hours} if hours else {}
        _, pool = one(record, zone="us-east5-a", capacity="flex-start", **over)
        config = config_of(pool)
        assert (config["flexStart"], config["maxRunDuration"]) == (True, seconds)
        assert config["reservationAffinity"] == {"consumeReservationType": "NO_RESERVATION"}
        assert pool.inputs["management"] == {"autoRepair": False, "autoUpgrade": True}
        assert "upgradeSettings" not in pool.inputs, "GKE upgrades these hosts in a way of its own"
        assert pool.inputs["autoscaling"] == {"minNodeCount": 0, "maxNodeCount": 4, "locationPolicy": "ANY"}
        assert "nodeCount" not in pool.inputs


def test_a_multi_host_slice_is_compact_in_one_zone_and_all_or_nothing(record: Record) -> None:
    graph, pool = one(record, topology="4x4")
    assert pool.inputs["placementPolicy"] == {"type": "COMPACT", "tpuTopology": "4x4"}
    assert pool.inputs["nodeLocations"] == ["europe-west4-a"]
    assert pool.inputs["autoscaling"] == {"minNodeCount": 0, "maxNodeCount": 4, "locationPolicy": "ANY"}
    assert pool.inputs["initialNodeCount"] == 0
    assert pool.inputs["maxPodsPerNode"] == 15
    assert pool.inputs["upgradeSettings"] == {"strategy": "SURGE", "maxSurge": 0, "maxUnavailable": 1}
    assert config_of(pool)["gvnic"] == {"enabled": True}
    assert of(POLICY)(graph) == []


def test_early_hosts_start_with_the_pool_and_the_autoscaler_may_remove_them(record: Record) -> None:
    _, pool = one(record, earlyHosts=1)
    assert pool.inputs["initialNodeCount"] == 1
    assert pool.inputs["autoscaling"] == {"minNodeCount": 0, "maxNodeCount": 4, "locationPolicy": "ANY"}


def test_a_pool_starts_with_the_hosts_that_always_run_if_they_are_more(record: Record) -> None:
    _, pool = one(record, earlyHosts=1, minNodes=2)
    assert pool.inputs["initialNodeCount"] == 2


def test_a_slice_that_always_exists_has_a_fixed_number_of_nodes(record: Record) -> None:
    _, pool = one(record, topology="4x4", minNodes=4)
    assert pool.inputs["nodeCount"] == 4
    assert not {"autoscaling", "initialNodeCount"} & pool.inputs.keys()


def test_a_tpu7x_slice_has_a_workload_policy_instead(record: Record) -> None:
    graph = record(
        {
            "llmd-gke:cluster": {"name": "llmd-eu4a", "zone": "us-central1-c", "minVersion": "1.35"},
            "llmd-gke:pools": [
                {"name": "v6e4", "machineType": "tpu7x-standard-4t", "topology": "2x2x1", "maxNodes": 4, "diskGb": 150},
                {"name": "more", "machineType": "tpu7x-standard-4t", "topology": "2x2x2", "maxNodes": 2},
            ],
        },
        preview=True,
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


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_family_boots_from_a_disk_that_attaches(record: Record, family: Family) -> None:
    machine = family.machines[-1].name
    graph = record(
        {
            "llmd-gke:cluster": {"name": "llmd", "zone": sorted(GKE_ZONES[family.name])[0], "minVersion": "1.35"},
            "llmd-gke:pools": [
                {**MODEL_POOL, "machineType": machine, "topology": family.shapes[machine][0]}
                if family.dimensions > 1
                else {"name": "v6e4", "machineType": machine, "maxNodes": 4}
            ],
            **SMALL,
        },
        preview=True,
    )
    config = config_of(graph.find(kinds.NODE_POOL, "v6e4-nodes"))
    assert (config["machineType"], config["diskType"]) == (machine, family.boot_disks[0])


def test_gpu_hosts_have_their_gpus_with_a_driver_and_the_taint_that_keeps_other_pods_away(record: Record) -> None:
    graph = record(
        {
            "llmd-gke:cluster": {"name": "llmd", "zone": "us-central1-a"},
            "llmd-gke:pools": [{"name": "v6e4", "machineType": "n1-standard-8", "gpus": 2, "maxNodes": 4}],
            **SMALL,
        },
        preview=True,
    )
    config = config_of(graph.find(kinds.NODE_POOL, "v6e4-nodes"))
    driver = {"gpuDriverVersion": "LATEST"}
    assert config["guestAccelerators"] == [
        {"type": "nvidia-tesla-t4", "count": 2, "gpuDriverInstallationConfig": driver}
    ]
    assert config["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]
    assert "linuxNodeConfig" not in config


def test_a_pool_in_another_zone_of_the_region_is_there(record: Record) -> None:
    graph = record(
        {"llmd-gke:pools": [MODEL_POOL, {**MODEL_POOL, "name": "more", "machineType": "ct5lp-hightpu-4t",
                                            "zone": "europe-west4-b"}]},
        preview=True,
    )  # fmt: skip
    assert graph.find(kinds.NODE_POOL, "more-nodes").inputs["nodeLocations"] == ["europe-west4-b"]


def test_tpu_hosts_have_transparent_huge_pages_and_system_nodes_do_not(graph: Graph) -> None:
    always = {"transparentHugepageEnabled": "TRANSPARENT_HUGEPAGE_ENABLED_ALWAYS"}
    for config in map(config_of, kinds.tpu_pool(graph)):
        assert config.get("linuxNodeConfig") == (None if "guestAccelerators" in config else always)
    assert "linuxNodeConfig" not in str([pool.inputs for pool in kinds.system_pool(graph)])
