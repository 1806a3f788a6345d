"""Node pools and slices, judged as GKE judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from localcloud.tests.providers.gke_inputs import CLUSTER, POOL, Props, plain, pool, slice_

if TYPE_CHECKING:
    from localcloud.tests.providers.conftest import Result, Standin


@pytest.mark.parametrize(
    "inputs",
    [
        pool(),
        pool(machine="ct6e-standard-1t"),
        pool(machine="ct6e-standard-8t"),
        pool(machine="e2-standard-4", disk=None),
        pool(disk=None, nodeConfig={"machineType": "ct6e-standard-4t", "bootDisk": {"diskType": "hyperdisk-balanced"}}),
        slice_("4x4", 4),
        slice_("2x4", 2),
    ],
)
def test_a_pool_that_gke_takes_is_made(google: Standin, cluster: Result, inputs: Props):
    made = google.create(POOL, inputs)
    assert made.id == "projects/rehearsal/locations/europe-west4/clusters/gke/nodePools/tpu"


@pytest.mark.parametrize(
    ("inputs", "complaint"),
    [
        (
            pool(nodeLocations=["europe-west4-b"]),
            'Invalid machine type "ct6e-standard-4t" in zone "europe-west4-b": GCE_NOT_FOUND',
        ),
        (pool(machine="ct6e-standard-2t"), 'Invalid machine type "ct6e-standard-2t"'),
        (pool(nodeLocations=["us-east5-a"]), "us-east5-a are not in the region of the cluster"),
        (pool(disk=None), r"\[pd-balanced\] features and .* are not compatible"),
        (pool(disk="pd-ssd"), r"\[pd-ssd\] features and .* are not compatible"),
        (
            pool(placementPolicy={"type": "COMPACT", "tpuTopology": "2x2"}),
            "placement policy is not supported for single-host",
        ),
        (pool(placementPolicy={"type": "COMPACT"}), "placement policy is not supported for single-host"),
        (slice_("2x2x1", 4), 'TPU topology "2x2x1" is invalid for machine type "ct6e-standard-4t", valid: 2x2'),
        (slice_("4x4", 4, placementPolicy={"type": "", "tpuTopology": "4x4"}), "needs placement policy type COMPACT"),
        (slice_("4x4", 3), "has 4 nodes or none, not 3"),
        (slice_("4x4", 4, initialNodeCount=1), "has 4 nodes or none, not 1"),
        (slice_("4x4", 4, upgradeSettings={"strategy": "BLUE_GREEN"}), "not supported with blue-green"),
        (pool(cluster="other"), "Not found: projects/rehearsal/locations/europe-west4/clusters/other"),
        (
            pool(nodeConfig={"machineType": "e2-medium", "serviceAccount": "x@rehearsal.iam.gserviceaccount.com"}),
            'Service account "x@rehearsal.iam.gserviceaccount.com" does not exist',
        ),
    ],
)
def test_a_pool_that_gke_refuses_is_refused(google: Standin, cluster: Result, inputs: Props, complaint: str):
    with pytest.raises(Exception, match=complaint):
        google.create(POOL, inputs)
    assert google.read(POOL, f"{cluster.id}/nodePools/tpu") is None


def test_both_counts_at_once_are_refused(google: Standin):
    with pytest.raises(Exception, match="Cannot set both initial_node_count and node_count"):
        google.check(POOL, pool(nodeCount=1, initialNodeCount=1))


@pytest.mark.parametrize(
    ("change", "replaces"),
    [
        ({"autoscaling": {"minNodeCount": 1, "maxNodeCount": 4}}, False),
        ({"nodeConfig": {"machineType": "ct6e-standard-8t", "diskType": "hyperdisk-balanced"}}, False),
        (
            {"nodeConfig": {"machineType": "ct6e-standard-4t", "diskType": "hyperdisk-balanced", "diskSizeGb": 200}},
            False,
        ),
        ({"nodeConfig": {"machineType": "ct6e-standard-4t", "diskType": "hyperdisk-balanced", "spot": True}}, True),
        (
            {"nodeConfig": {"machineType": "ct6e-standard-4t", "diskType": "hyperdisk-balanced", "oauthScopes": ["x"]}},
            True,
        ),
        ({"initialNodeCount": 1}, True),
        ({"placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"}}, True),
        ({"nodeLocations": ["europe-west4-a", "europe-west4-b"]}, False),
        ({"networkConfig": {"enablePrivateNodes": True}}, False),
        ({"networkConfig": {"podRange": "pods"}}, True),
    ],
)
def test_what_replaces_a_pool_and_what_changes_it_in_place(
    google: Standin, cluster: Result, change: Props, replaces: bool
):
    made = google.create(POOL, pool())
    assert bool(google.diff(POOL, made, plain(made) | change).replaces) is replaces


def test_the_topology_of_a_pool_cannot_be_changed(google: Standin, cluster: Result):
    made = google.create(POOL, slice_("4x4", 4))
    with pytest.raises(Exception, match='cannot be changed, from "4x4" to "4x8"'):
        google.update(POOL, made, slice_("4x8", 8))


POLICY = "gcp:compute/resourcePolicy:ResourcePolicy"
IRONWOOD = {"machineType": "tpu7x-standard-4t", "diskType": "hyperdisk-balanced"}


@pytest.fixture
def iowa(google: Standin, network: Result) -> Result:
    """A cluster in a region with tpu7x."""
    region = "us-central1"
    subnet = {"name": "iowa", "network": "vpc", "region": region, "ipCidrRange": "10.200.0.0/20"}
    google.create("gcp:compute/subnetwork:Subnetwork", subnet)
    wanted = {"name": "gke", "location": region, "network": "vpc", "subnetwork": "iowa", "initialNodeCount": 1}
    return google.create(CLUSTER, wanted)


def ironwood(**placement: str) -> Props:
    location: Props = {"location": "us-central1", "nodeLocations": ["us-central1-c"]}
    return slice_("2x2x2", 2, nodeConfig=IRONWOOD, placementPolicy={"tpuTopology": "2x2x2", **placement}, **location)


def workload(topology: str) -> Props:
    policy = {"type": "HIGH_THROUGHPUT", "acceleratorTopology": topology}
    return {"name": "slice", "region": "us-central1", "workloadPolicy": policy}


def test_a_tpu7x_slice_takes_a_workload_policy_which_stays_while_it_is_used(google: Standin, iowa: Result):
    policy = google.create(POLICY, workload("2x2x2"))
    made = google.create(POOL, ironwood(type="", policyName="slice"))
    with pytest.raises(Exception, match="is already being used by"):
        google.delete(POLICY, policy)
    google.delete(POOL, made)
    google.delete(POLICY, policy)


@pytest.mark.parametrize(
    ("placement", "complaint"),
    [
        ({"type": "COMPACT"}, "Use workload policy instead"),
        ({"type": ""}, "needs a workload policy"),
        ({"type": "", "policyName": "absent"}, "resourcePolicies/absent' was not found"),
        ({"type": "", "policyName": "slice"}, 'is for topology "2x2x4", the node pool for "2x2x2"'),
    ],
)
def test_a_tpu7x_slice_without_its_workload_policy_is_refused(
    google: Standin, iowa: Result, placement: dict[str, str], complaint: str
):
    google.create(POLICY, workload("2x2x4"))
    with pytest.raises(Exception, match=complaint):
        google.create(POOL, ironwood(**placement))
