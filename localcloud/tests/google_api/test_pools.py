"""Node pools and slices, judged as GKE judges them, and what capacity Google has for them."""

from __future__ import annotations

from typing import Any

import pytest

from localcloud.tests.google_api.conftest import CLUSTER, COMPUTE, GKE, VPC, Client, Props

POOLS = f"{GKE}/clusters/gke/nodePools"
IOWA = POOLS.replace("us-east5", "us-central1")
RESERVED = {
    "consumeReservationType": "SPECIFIC_RESERVATION",
    "key": "compute.googleapis.com/reservation-name",
    "values": ["mine"],
}


def node(machine: str = "ct6e-standard-4t", disk: str = "hyperdisk-balanced", **config: Any) -> Props:
    return {"machineType": machine, **({"diskType": disk} if disk else {}), **config}


def bounds(low: int = 0, high: int = 4, **over: int) -> Props:
    return {"enabled": True, "minNodeCount": low, "maxNodeCount": high, **over}


def pool(machine: str = "ct6e-standard-4t", disk: str = "hyperdisk-balanced", **over: Any) -> Props:
    base: Props = {"name": "tpu", "locations": ["us-east5-b"], "config": node(machine, disk)}
    return {**base, "initialNodeCount": 0, "autoscaling": bounds(), **over}


def slice_(topology: str, nodes: int, **over: Any) -> Props:
    placement = {"type": "COMPACT", "tpuTopology": topology}
    return {**pool(placementPolicy=placement, autoscaling=bounds(0, nodes)), **over}


def flex(**over: Any) -> Props:
    config = node(flexStart=True, maxRunDuration="604800s")
    return {**pool(config=config, management={"autoRepair": False}), **over}


def ironwood(**placement: str) -> Props:
    config = node("tpu7x-standard-4t")
    policy = {"tpuTopology": "2x2x2", **placement}
    return slice_("2x2x2", 2, config=config, locations=["us-central1-c"], placementPolicy=policy)


def gpus(machine: str = "g2-standard-8", kind: str = "nvidia-l4", count: int = 1, **over: Any) -> Props:
    driver = {"gpuDriverVersion": "LATEST"}
    guest = {"acceleratorType": kind, "acceleratorCount": str(count), "gpuDriverInstallationConfig": driver}
    config = node(machine, "pd-balanced", accelerators=[guest])
    return {**pool(config=config, locations=["us-central1-a"]), **over}


@pytest.mark.parametrize(
    "body",
    [
        pool(),
        pool("ct6e-standard-1t"),
        pool("ct6e-standard-8t"),
        pool("e2-standard-4", disk=""),
        pool(config=node(disk="", bootDisk={"diskType": "hyperdisk-balanced"})),
        slice_("4x4", 4),
        slice_("2x4", 2),
        pool(config=node(reservationAffinity=RESERVED)),
        pool(autoscaling=bounds(4, 4)),
        pool(autoscaling={"enabled": True, "totalMinNodeCount": 1, "totalMaxNodeCount": 4}),
        pool(autoscaling={"enabled": False, "minNodeCount": 1}),
        flex(),
    ],
)
def test_a_pool_that_gke_takes_is_made(cluster: Client, body: Props) -> None:
    cluster.ok("POST", POOLS, {"nodePool": body})
    assert cluster.ok("GET", f"{POOLS}/tpu")["status"] == "RUNNING"


REFUSED: list[tuple[Props, str]] = [
    (pool(locations=["us-east5-c"]), 'Invalid machine type "ct6e-standard-4t" in zone "us-east5-c": GCE_NOT_FOUND'),
    (pool("ct6e-standard-2t"), 'Invalid machine type "ct6e-standard-2t"'),
    (pool(locations=["europe-west4-a"]), "europe-west4-a are not in the region of the cluster"),
    (pool(disk=""), "[pd-balanced] features and [instance_type: ct6e-standard-4t] are not compatible"),
    (pool(disk="pd-ssd"), "[pd-ssd] features and"),
    (pool(placementPolicy={"type": "COMPACT", "tpuTopology": "2x2"}), "policy is not supported for single-host"),
    (pool(placementPolicy={"type": "COMPACT"}), "placement policy is not supported for single-host"),
    (slice_("2x2x1", 4), 'TPU topology "2x2x1" is invalid for machine type "ct6e-standard-4t", valid: 2x2'),
    (slice_("4x4", 4, placementPolicy={"tpuTopology": "4x4"}), "needs placement policy type COMPACT"),
    (slice_("4x4", 3), "has 4 nodes or none, not 3"),
    (slice_("4x4", 4, initialNodeCount=1), "has 4 nodes or none, not 1"),
    (slice_("4x4", 4, locations=["us-east5-a", "us-east5-b"]), "must be in exactly one zone"),
    (slice_("4x4", 4, upgradeSettings={"strategy": "BLUE_GREEN"}), "not supported with blue-green"),
    (pool("e2-medium", disk="", placementPolicy={"tpuTopology": "2x2"}), "A TPU topology is not supported"),
    (
        pool(config=node("e2-medium", disk="", serviceAccount="x@my-project.iam.gserviceaccount.com")),
        'Service account "x@my-project.iam.gserviceaccount.com" does not exist',
    ),
    (pool(autoscaling=bounds(5, 4)), "minNodeCount 5 is greater than maxNodeCount 4"),
    (pool(autoscaling={"enabled": True, "minNodeCount": 1}), "minNodeCount 1 is greater than maxNodeCount 0"),
    (pool(autoscaling=bounds(0, 0, totalMinNodeCount=3, totalMaxNodeCount=2)), "totalMinNodeCount 3 is greater"),
    (pool(autoscaling=bounds(0, 4, totalMaxNodeCount=4)), "minNodeCount, maxNodeCount exclude totalMinNodeCount"),
    (pool(config=node(spot=True, flexStart=True)), "Spot and flex-start cannot be used together"),
    (pool(config=node(spot=True, reservationAffinity=RESERVED)), "spot node pool cannot consume a reservation"),
    (
        pool(config=node(reservationAffinity={"consumeReservationType": "SPECIFIC_RESERVATION"})),
        "needs the key compute.googleapis.com/reservation-name",
    ),
    (pool(config=node(maxRunDuration="604801s")), 'Max run duration "604801s" is more than 604800s'),
    (flex(management={}), "Auto repair must be off"),
    (flex(autoscaling={}), "Flex-start node pools need autoscaling"),
]


@pytest.mark.parametrize(("body", "text"), REFUSED)
def test_a_pool_that_gke_refuses_is_not_made(cluster: Client, body: Props, text: str) -> None:
    status, reason, message = cluster.refused("POST", POOLS, {"nodePool": body})
    assert (status, reason) == (400, "badRequest")
    assert text in message
    assert cluster.refused("GET", f"{POOLS}/tpu")[0] == 404


def test_a_pool_needs_its_cluster(cluster: Client) -> None:
    for path in (POOLS.replace("/gke/", "/other/"), IOWA):
        assert "Not found: projects/my-project/locations/" in cluster.refused("POST", path, {"nodePool": pool()})[2]


@pytest.mark.parametrize(("low", "high", "status"), [(1, 2, 200), (3, 2, 400)])
def test_bounds_are_judged_when_they_change_too(cluster: Client, low: int, high: int, status: int) -> None:
    cluster.ok("POST", POOLS, {"nodePool": pool()})
    path, body = f"{POOLS}/tpu:setAutoscaling", {"autoscaling": bounds(low, high)}
    assert cluster.answer("POST", path, body)[0] == status
    update = {"desiredNodePoolId": "tpu", "desiredNodePoolAutoscaling": bounds(low, high)}
    assert cluster.answer("PUT", f"{GKE}/clusters/gke", {"update": update})[0] == status


# -- another region ----------------------------------------------------------------------------------------------------


@pytest.fixture
def iowa(cluster: Client) -> Client:
    """With a second cluster, in a region with tpu7x, whose v6e zone has no flex-start."""
    subnet = {"name": "iowa", "network": VPC, "ipCidrRange": "10.200.0.0/20"}
    cluster.ok("POST", f"{COMPUTE}/regions/us-central1/subnetworks", subnet)
    body = CLUSTER | {"subnetwork": "iowa", "ipAllocationPolicy": {}}
    cluster.ok("POST", f"{GKE.replace('us-east5', 'us-central1')}/clusters", {"cluster": body})
    return cluster


def test_a_pool_has_gpus_that_its_machine_takes(iowa: Client) -> None:
    iowa.ok("POST", IOWA, {"nodePool": gpus()})
    iowa.ok("POST", IOWA, {"nodePool": gpus("n1-standard-8", "nvidia-tesla-t4", 4, name="t4")})
    iowa.ok("DELETE", f"{IOWA}/tpu")
    for body, why in (
        (gpus(count=2), 'Machine type "g2-standard-8" takes 1 nvidia-l4, not 2 nvidia-l4'),
        (gpus("g2-standard-8", "nvidia-tesla-t4"), "not 1 nvidia-tesla-t4"),
        (gpus(locations=["us-central1-f"]), 'Invalid machine type "g2-standard-8" in zone "us-central1-f"'),
    ):
        assert why in iowa.refused("POST", IOWA, {"nodePool": body})[2]


def policy(client: Client, topology: str) -> str:
    """Makes a workload policy; returns its path."""
    path = f"{COMPUTE}/regions/us-central1/resourcePolicies"
    workload = {"type": "HIGH_THROUGHPUT", "acceleratorTopology": topology}
    client.ok("POST", path, {"name": "slice", "workloadPolicy": workload})
    return f"{path}/slice"


def test_a_tpu7x_slice_takes_a_workload_policy_which_stays_while_it_is_used(iowa: Client) -> None:
    made = policy(iowa, "2x2x2")
    iowa.ok("POST", IOWA, {"nodePool": ironwood(policyName="slice")})
    assert "is already being used by" in iowa.refused("DELETE", made)[2]
    iowa.ok("DELETE", f"{IOWA}/tpu")
    iowa.ok("DELETE", made)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (ironwood(type="COMPACT"), "Use workload policy instead"),
        (ironwood(), "needs a workload policy"),
        (ironwood(policyName="absent"), "resourcePolicies/absent' was not found"),
        (ironwood(policyName="slice"), 'is for topology "2x2x4", the node pool for "2x2x2"'),
        (flex(locations=["us-central1-b"]), 'Flex-start is not available for TPU v6e in zone "us-central1-b"'),
    ],
)
def test_what_another_region_does_not_have_is_refused(iowa: Client, body: Props, text: str) -> None:
    policy(iowa, "2x2x4")
    assert text in iowa.refused("POST", IOWA, {"nodePool": body})[2]


# -- stock and quota ---------------------------------------------------------------------------------------------------


def world(client: Client, **conditions: object) -> None:
    client.faults({"fault": "world", "enabledApis": ["*"], **conditions})


def made(client: Client, body: Props) -> str:
    """Makes a pool; returns why its nodes could not be made, or ``""``."""
    return client.ok("POST", POOLS, {"nodePool": body}).get("statusMessage", "")


@pytest.mark.parametrize("body", [pool(), pool("e2-standard-4", disk="", initialNodeCount=1)])
def test_a_stock_out_lets_pools_without_tpu_nodes_pass(cluster: Client, body: Props) -> None:
    world(cluster, stockout=["us-east5-b"])
    assert made(cluster, body) == ""


SPOT, FLEX = {"config": node(spot=True)}, flex()
SPOT_QUOTA = "'PREEMPTIBLE_TPU_V6E' exceeded. Limit: "


@pytest.mark.parametrize(
    ("quota", "pools", "text"),
    [
        ({"CT6E": 4}, [{}, {"initialNodeCount": 1}], "'TPUS_PER_TPU_FAMILY' exceeded. Limit: 4.0 in region us-east5"),
        ({"CT6E": 0, "PREEMPTIBLE_TPU_V6E": 8}, [SPOT | {"initialNodeCount": 2}, SPOT], SPOT_QUOTA + "8.0"),
        ({"PREEMPTIBLE_TPU_V6E": 0}, [FLEX, FLEX], SPOT_QUOTA + "0.0"),
    ],
)  # fmt: skip
def test_nodes_draw_on_the_quota_of_their_capacity(
    cluster: Client, quota: Props, pools: list[Props], text: str
) -> None:
    """``pools``: those that the quota allows; the last one is then made again with a node."""
    world(cluster, quota=quota)
    for index, body in enumerate(pools):
        assert made(cluster, {**pool(), **body, "name": f"fits-{index}"}) == ""
    assert text in made(cluster, {**pool(), **pools[-1], "name": "more", "initialNodeCount": 1})
