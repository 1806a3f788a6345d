"""Clusters and TPU node pools, judged as GKE judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from unit.standins.conftest import Result, Standin

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
Props = dict[str, Any]


def pool(*, machine: str = "ct6e-standard-4t", disk: str | None = "hyperdisk-balanced", **over: Any) -> Props:
    node: Props = {"machineType": machine} | ({"diskType": disk} if disk else {})
    base: Props = {
        "name": "tpu",
        "cluster": "gke",
        "location": "europe-west4",
        "nodeLocations": ["europe-west4-a"],
        "initialNodeCount": 0,
        "autoscaling": {"minNodeCount": 0, "maxNodeCount": 4},
        "nodeConfig": node,
    }
    return base | over


def slice_(topology: str, nodes: int, **over: Any) -> Props:
    return (
        pool(
            placementPolicy={"type": "COMPACT", "tpuTopology": topology},
            initialNodeCount=0,
            autoscaling={"minNodeCount": 0, "maxNodeCount": nodes},
        )
        | over
    )


def plain(made: Result) -> Props:
    return {key: value for key, value in made.inputs.items() if key != "__defaults"}


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


@pytest.mark.parametrize(
    ("change", "replaces"),
    [
        ({"gatewayApiConfig": {"channel": "CHANNEL_DISABLED"}}, False),
        ({"minMasterVersion": "1.36"}, False),
        ({"deletionProtection": True}, False),
        ({"nodeLocations": ["europe-west4-b"]}, False),
        ({"datapathProvider": "LEGACY_DATAPATH"}, True),
        ({"initialNodeCount": 2}, True),
        ({"location": "europe-west4-a"}, True),
        ({"nodeConfig": {"machineType": "e2-medium"}}, True),
        ({"ipAllocationPolicy": {"stackType": "IPV4"}}, True),
    ],
)
def test_what_replaces_a_cluster_and_what_changes_it_in_place(
    google: Standin, cluster: Result, change: Props, replaces: bool
):
    assert bool(google.diff(CLUSTER, cluster, plain(cluster) | change).replaces) is replaces


def test_ignored_changes_are_no_changes(google: Standin, cluster: Result):
    from llmd_gke.laptop.standins.core.protos import provider_pb2
    from llmd_gke.laptop.standins.core.values import encode

    answer = google.stub.Diff(
        provider_pb2.DiffRequest(
            id=cluster.id,
            urn=f"urn:pulumi:t::p::{CLUSTER}::it",
            type=CLUSTER,
            name="it",
            ignoreChanges=["nodeConfig"],
            old_inputs=encode(cluster.inputs),
            olds=encode(cluster.outputs),
            news=encode({**cluster.inputs, "nodeConfig": {"machineType": "e2-medium"}}),
        )
    )
    assert not answer.replaces
    assert not answer.detailedDiff


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"network": "none"}, "networks/none' was not found"),
        ({"subnetwork": "none"}, "subnetworks/none' was not found"),
        ({"ipAllocationPolicy": {"clusterSecondaryRangeName": "none"}}, 'Secondary range "none" does not exist'),
        ({"initialNodeCount": 0}, "initial_node_count must be greater than zero"),
        ({"nodeLocations": ["us-east5-a"]}, 'Location "us-east5-a" is not valid'),
        ({"workloadIdentityConfig": {"workloadPool": "other.svc.id.goog"}}, 'must be "rehearsal.svc.id.goog"'),
        (
            {"datapathProvider": "ADVANCED_DATAPATH", "networkPolicy": {"enabled": True}},
            "together with ADVANCED_DATAPATH",
        ),
    ],
)
def test_a_cluster_that_gke_refuses_is_refused(google: Standin, subnet: Result, change: Props, complaint: str):
    base: Props = {
        "name": "gke",
        "location": "europe-west4",
        "network": "vpc",
        "subnetwork": "nodes",
        "initialNodeCount": 1,
    }
    with pytest.raises(Exception, match=complaint):
        google.create(CLUSTER, base | change)


def test_a_cluster_with_deletion_protection_in_the_state_stays(google: Standin, subnet: Result):
    made = google.create(
        CLUSTER,
        {"name": "gke", "location": "europe-west4", "network": "vpc", "subnetwork": "nodes", "initialNodeCount": 1},
    )
    assert made.outputs["deletionProtection"] is True, "upstream's default"
    with pytest.raises(Exception, match="Cannot destroy cluster because deletion_protection is set to true"):
        google.delete(CLUSTER, made)
    made.outputs = google.update(CLUSTER, made, plain(made) | {"deletionProtection": False})
    google.delete(CLUSTER, made)


def test_a_cluster_takes_its_pools_and_its_objects_along(
    google: Standin, kubernetes: Standin, cluster: Result, namespace: Result
):
    made = google.create(POOL, pool())
    google.delete(CLUSTER, cluster)
    assert google.read(POOL, made.id) is None
    assert (google.folder / "kubernetes.json").read_text() == "{}"


def test_the_client_key_of_a_cluster_is_secret(google: Standin, cluster: Result):
    assert ("masterAuth", "clientKey") in cluster.secrets
    assert ("masterAuth", "clusterCaCertificate") not in cluster.secrets


def test_a_stock_out_fails_a_pool_that_starts_with_nodes_and_keeps_it(google: Standin, cluster: Result):
    google.faults(enabledApis=["*"], stockout=["europe-west4-a"])
    wanted = pool(initialNodeCount=1)
    with pytest.raises(Exception, match=r"created in the error state .*\[GCE_STOCKOUT\].*europe-west4-a"):
        google.create(POOL, wanted)
    kept = google.read(POOL, f"{cluster.id}/nodePools/tpu")
    assert kept is not None, "GKE keeps the pool and goes on trying"


def test_a_pool_recovers_when_capacity_is_back(google: Standin, cluster: Result):
    google.faults(enabledApis=["*"], stockout=["europe-west4-a"])
    with pytest.raises(Exception, match="GCE_STOCKOUT"):
        google.create(POOL, pool(initialNodeCount=1))
    found = google.read(POOL, f"{cluster.id}/nodePools/tpu")
    assert found is not None
    google.faults(enabledApis=["*"])
    from llmd_gke.laptop.standins.core.protos import provider_pb2
    from llmd_gke.laptop.standins.core.values import encode

    bag = encode(found[0].values)
    google.stub.Update(
        provider_pb2.UpdateRequest(
            id=f"{cluster.id}/nodePools/tpu",
            urn=f"urn:pulumi:t::p::{POOL}::it",
            type=POOL,
            name="it",
            old_inputs=bag,
            news=bag,
        )
    )


def test_a_stock_out_lets_a_pool_without_nodes_pass(google: Standin, cluster: Result):
    google.faults(enabledApis=["*"], stockout=["europe-west4-a"])
    google.create(POOL, pool())


def test_a_stock_out_leaves_other_machines_alone(google: Standin, cluster: Result):
    google.faults(enabledApis=["*"], stockout=["europe-west4-a"])
    google.create(POOL, pool(machine="e2-standard-4", disk=None, initialNodeCount=1))


def test_quota_of_the_family_is_drawn_by_nodes(google: Standin, cluster: Result):
    google.faults(enabledApis=["*"], quota={"CT6E": 4})
    google.create(POOL, pool(name="empty", initialNodeCount=0))
    google.create(POOL, pool(name="one", initialNodeCount=1))
    with pytest.raises(Exception, match=r"Quota 'TPUS_PER_TPU_FAMILY' exceeded\. Limit: 4\.0 in region europe-west4"):
        google.create(POOL, pool(name="two", initialNodeCount=1))


def test_spot_has_a_quota_of_its_own(google: Standin, cluster: Result):
    google.faults(enabledApis=["*"], quota={"CT6E": 0, "PREEMPTIBLE_TPU_V6E": 8})
    spot = {"machineType": "ct6e-standard-4t", "diskType": "hyperdisk-balanced", "spot": True}
    google.create(POOL, pool(initialNodeCount=2, nodeConfig=spot))
    with pytest.raises(Exception, match=r"Quota 'PREEMPTIBLE_TPU_V6E' exceeded\. Limit: 8\.0"):
        google.create(POOL, pool(name="more", initialNodeCount=1, nodeConfig=spot))


def test_the_topology_of_a_pool_cannot_be_changed(google: Standin, cluster: Result):
    made = google.create(POOL, slice_("4x4", 4))
    with pytest.raises(Exception, match='cannot be changed, from "4x4" to "4x8"'):
        google.update(POOL, made, slice_("4x8", 8))


def node(**config: Any) -> Props:
    return {"machineType": "ct6e-standard-4t", "diskType": "hyperdisk-balanced"} | config


RESERVED = {
    "consumeReservationType": "SPECIFIC_RESERVATION",
    "key": "compute.googleapis.com/reservation-name",
    "values": ["mine"],
}
LONG = "604801s"


def test_a_reservation_is_consumed_by_its_name(google: Standin, cluster: Result):
    google.create(POOL, pool(nodeConfig=node(reservationAffinity=RESERVED)))


@pytest.mark.parametrize(
    ("inputs", "complaint"),
    [
        (pool(nodeConfig=node(spot=True, flexStart=True)), "Spot and flex-start cannot be used together"),
        (pool(nodeConfig=node(spot=True, reservationAffinity=RESERVED)), "spot node pool cannot consume a reservation"),
        (
            pool(nodeConfig=node(reservationAffinity={"consumeReservationType": "SPECIFIC_RESERVATION"})),
            "needs the key compute.googleapis.com/reservation-name",
        ),
        (pool(nodeConfig=node(flexStart=True)), 'Flex-start is not available for TPU v6e in zone "europe-west4-a"'),
        (pool(nodeConfig=node(maxRunDuration=LONG)), 'Max run duration "604801s" is more than 604800s'),
    ],
)
def test_capacity_that_google_does_not_give_is_refused(google: Standin, cluster: Result, inputs: Props, complaint: str):
    with pytest.raises(Exception, match=complaint):
        google.create(POOL, inputs)


@pytest.fixture
def tokyo(google: Standin, network: Result) -> Result:
    """A cluster in a region with flex-start."""
    region = "asia-northeast1"
    subnet = {"name": "tokyo", "network": "vpc", "region": region, "ipCidrRange": "10.200.0.0/20"}
    google.create("gcp:compute/subnetwork:Subnetwork", subnet)
    wanted = {"name": "gke", "location": region, "network": "vpc", "subnetwork": "tokyo", "initialNodeCount": 1}
    return google.create(CLUSTER, wanted)


def flex(**over: Any) -> Props:
    place: Props = {"location": "asia-northeast1", "nodeLocations": ["asia-northeast1-b"]}
    config = node(flexStart=True, maxRunDuration="604800s")
    return pool(nodeConfig=config, management={"autoRepair": False}, **place) | over


def test_flex_start_draws_on_the_preemptible_quota(google: Standin, tokyo: Result):
    google.create(POOL, flex())
    google.faults(enabledApis=["*"], quota={"PREEMPTIBLE_TPU_V6E": 0})
    with pytest.raises(Exception, match=r"Quota 'PREEMPTIBLE_TPU_V6E' exceeded"):
        google.create(POOL, flex(name="more", initialNodeCount=1))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [({"management": {}}, "Auto repair must be off"), ({"autoscaling": None, "initialNodeCount": 0}, "autoscaling")],
)
def test_flex_start_without_what_it_needs_is_refused(google: Standin, tokyo: Result, change: Props, complaint: str):
    wanted = {key: value for key, value in (flex() | change).items() if value is not None}
    with pytest.raises(Exception, match=complaint):
        google.create(POOL, wanted)


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
    place: Props = {"location": "us-central1", "nodeLocations": ["us-central1-c"]}
    return slice_("2x2x2", 2, nodeConfig=IRONWOOD, placementPolicy={"tpuTopology": "2x2x2", **placement}, **place)


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


KEY = "projects/p/locations/europe-west4/keyRings/r/cryptoKeys/k"
WINDOW = {"startTime": "2026-01-01T02:00:00Z", "endTime": "2026-01-01T08:00:00Z", "recurrence": "FREQ=WEEKLY;BYDAY=SA"}
PAUSE = {"exclusionName": "a", "startTime": "2026-12-18T00:00:00Z", "endTime": "2026-12-28T00:00:00Z"}
PLAIN: Props = {"location": "europe-west4", "network": "vpc", "subnetwork": "nodes", "initialNodeCount": 1}


def window(**over: Any) -> Props:
    return {"maintenancePolicy": {"recurringWindow": WINDOW, **over}}


def pause(**over: Any) -> Props:
    return window(maintenanceExclusions=[{key: value for key, value in (PAUSE | over).items() if value}])


def test_a_hardened_cluster_with_its_options_is_made(google: Standin, subnet: Result):
    options: Props = {
        "anonymousAuthenticationConfig": {"mode": "LIMITED"},
        "binaryAuthorization": {"evaluationMode": "PROJECT_SINGLETON_POLICY_ENFORCE"},
        "databaseEncryption": {"state": "ENCRYPTED", "keyName": KEY},
        "nodePoolDefaults": {"nodeConfigDefaults": {"insecureKubeletReadonlyPortEnabled": "FALSE"}},
        **pause(exclusionOptions={"scope": "NO_MINOR_OR_NODE_UPGRADES"}),
    }
    google.create(CLUSTER, PLAIN | options | {"name": "gke"})


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"anonymousAuthenticationConfig": {"mode": "OFF"}}, "mode to be one of ENABLED, LIMITED, got OFF"),
        ({"binaryAuthorization": {"evaluationMode": "ON"}}, "evaluationMode to be one of DISABLED"),
        ({"databaseEncryption": {"state": "ENCRYPTED"}}, "a key is needed"),
        (
            {"databaseEncryption": {"state": "ENCRYPTED", "keyName": KEY.replace("europe-west4", "us-east1")}},
            'is not in location "europe-west4"',
        ),
        ({"nodePoolDefaults": {"nodeConfigDefaults": {"insecureKubeletReadonlyPortEnabled": "no"}}}, "got no"),
        ({"maintenancePolicy": {"maintenanceExclusions": [PAUSE]}}, "one of recurring_window"),
        (pause(endTime=None), "exactly one of end_time"),
        (
            pause(exclusionOptions={"scope": "NO_MINOR_UPGRADES", "endTimeBehavior": "UNTIL_END_OF_SUPPORT"}),
            "exactly one of end_time",
        ),
        (pause(exclusionOptions={"scope": "NOTHING"}), "scope to be one of NO_UPGRADES"),
        (pause(startTime="2026-12-18"), "is not a time such as"),
        (window(maintenanceExclusions=[PAUSE] * 21), "no more than 20"),
    ],
)
def test_cluster_options_that_google_refuses_are_refused(
    google: Standin, subnet: Result, options: Props, complaint: str
):
    with pytest.raises(Exception, match=complaint):
        google.create(CLUSTER, PLAIN | options | {"name": "gke"})


def test_a_cluster_in_a_shared_network_finds_it_in_the_host_project(google: Standin):
    host = "projects/host-project"
    google.faults(enabledApis=["*"])
    google.create("gcp:compute/network:Network", {"name": "corp", "project": "host-project"})
    subnet = {"name": "gke", "network": f"{host}/global/networks/corp", "project": "host-project"}
    google.create("gcp:compute/subnetwork:Subnetwork", subnet | {"ipCidrRange": "10.0.0.0/20"})
    shared = {
        "network": f"{host}/global/networks/corp",
        "subnetwork": f"{host}/regions/europe-west4/subnetworks/gke",
    }
    google.create(CLUSTER, PLAIN | shared | {"name": "gke"})
    with pytest.raises(Exception, match="projects/rehearsal/global/networks/corp' was not found"):
        google.create(CLUSTER, PLAIN | {"name": "other", "network": "corp"})


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("1.35", "1.35.2-gke.1751000"),
        ("1.34.4", "1.34.4-gke.1047000"),
        ("1.36.2-gke.2154000", "1.36.2-gke.2154000"),
        (None, "1.35.2-gke.1751000"),
    ],
)
def test_a_minor_version_means_its_newest_patch(asked: str | None, given: str) -> None:
    from llmd_gke.laptop.standins.google.container import offered

    assert offered(asked or "") == given


@pytest.mark.parametrize("asked", ["1.34.0-gke.1626000", "1.3", "1.99"])
def test_a_version_that_is_no_longer_offered_is_refused(asked: str) -> None:
    from llmd_gke.laptop.standins.google.container import offered

    assert offered(asked) is None
