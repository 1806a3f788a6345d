"""Faults on demand: each strikes where it was asked for, as often as it was asked for."""

from __future__ import annotations

import pytest

from localcloud.google_api.core import cloud
from localcloud.google_api.core.faults import out_of_stock, reclaimed
from localcloud.google_api.server import Dropped
from localcloud.google_api.services import pool_capacity
from localcloud.providers.google.references import ROUTER, ROUTER_NAT
from localcloud.providers.protocol.values import JsonObject
from localcloud.tests.google_api.conftest import COMPUTE, GKE, POOL, Client

NETWORKS = f"{COMPUTE}/global/networks"
VPC = {"name": "vpc", "autoCreateSubnetworks": False}
ON = {"fault": "world", "enabledApis": ["*"]}


@pytest.mark.parametrize("code", [409, 429, 503])
def test_an_error_strikes_so_often_and_then_no_more(client: Client, code: int) -> None:
    client.faults(ON, {"fault": "error", "method": "compute.networks.*", "code": code, "times": 2, "message": "later"})
    assert [client.refused("POST", NETWORKS, VPC)[0] for _ in range(2)] == [code, code]
    client.ok("POST", NETWORKS, VPC)
    assert client.seen()["faults"][1]["times"] == 0


def test_a_fault_waits_until_so_many_requests_have_passed_and_leaves_other_resources_alone(client: Client) -> None:
    client.faults(ON, {"fault": "error", "resource": "*/networks/vpc", "code": 503, "after": 1})
    client.ok("POST", NETWORKS, VPC)
    client.ok("GET", f"{NETWORKS}/vpc")
    assert client.refused("GET", f"{NETWORKS}/vpc")[:2] == (503, "backendError")


def test_an_operation_fails_after_it_was_accepted_and_nothing_is_made(client: Client) -> None:
    client.faults(
        ON, {"fault": "operation", "method": "compute.networks.insert", "message": "backend error", "times": 1}
    )
    operation = client.ok("POST", NETWORKS, VPC)
    assert operation["error"]["errors"][0]["message"] == "backend error"
    assert client.refused("GET", f"{NETWORKS}/vpc")[0] == 404
    client.ok("POST", NETWORKS, VPC)


def test_a_router_whose_operation_failed_can_be_made_by_the_next_one(client: Client) -> None:
    client.faults(ON, {"fault": "operation", "method": "compute.routers.insert", "times": 1})
    client.ok("POST", NETWORKS, VPC)
    routers = f"{COMPUTE}/regions/us-east5/routers"
    nats = [
        {
            "name": "nat",
            "natIpAllocateOption": "AUTO_ONLY",
            "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
        }
    ]
    router = {"name": "router", "network": "projects/my-project/global/networks/vpc", "nats": nats}
    assert client.ok("POST", routers, router)["error"]
    with client.cloud.opened(), client.cloud.state() as cloud_state:
        assert cloud_state.all(ROUTER) == cloud_state.all(ROUTER_NAT) == {}
    assert "error" not in client.ok("POST", routers, router)


def test_a_slow_operation_runs_until_its_time_is_over(cluster: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.faults(ON, {"fault": "slow", "method": "container.*", "seconds": 100, "times": 1})
    operation = cluster.ok("POST", f"{GKE}/clusters/gke/nodePools", {"nodePool": POOL})
    path = f"{GKE}/operations/{operation['name']}"
    assert cluster.ok("GET", path)["status"] == "RUNNING"
    assert cluster.ok("GET", f"{GKE}/clusters/gke/nodePools/tpu")["status"] == "PROVISIONING"
    later(monkeypatch, 101)
    assert cluster.ok("GET", path)["status"] == "DONE"
    assert cluster.ok("GET", f"{GKE}/clusters/gke/nodePools/tpu")["status"] == "RUNNING"


def test_another_process_neither_ends_a_slow_operation_early_nor_leaves_out_its_ending(
    cluster: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.faults(ON, {"fault": "slow", "method": "container.*", "seconds": 100, "times": 1})
    # Numbers of processes mean nothing to one that lives in another PID namespace, and the first may be gone.
    monkeypatch.setattr("os.getpid", lambda: 2**22 + 1)
    operation = cluster.ok("POST", f"{GKE}/clusters/gke/nodePools", {"nodePool": POOL})
    monkeypatch.undo()
    other, path = Client(cluster.cloud.folder), f"{GKE}/operations/{operation['name']}"
    assert other.ok("GET", path)["status"] == "RUNNING"
    later(monkeypatch, 101)
    assert other.ok("GET", path)["status"] == "DONE"
    assert other.ok("GET", f"{GKE}/clusters/gke/nodePools/tpu")["status"] == "RUNNING"
    assert cluster.ok("GET", f"{GKE}/clusters/gke/nodePools/tpu")["status"] == "RUNNING"


def test_a_deletion_that_fails_late_gives_back_what_was_there_whoever_ends_it(
    cluster: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.faults(ON, {"fault": "slow", "seconds": 100, "times": 1}, {"fault": "operation", "times": 1})
    cluster.ok("DELETE", f"{GKE}/clusters/gke")
    other = Client(cluster.cloud.folder)
    assert other.ok("GET", f"{GKE}/clusters/gke")["status"] == "STOPPING"
    later(monkeypatch, 101)
    assert other.ok("GET", f"{GKE}/clusters/gke")["status"] == "RUNNING"


def test_a_lost_connection_leaves_what_was_made(client: Client) -> None:
    client.faults(ON, {"fault": "drop", "method": "compute.networks.insert", "times": 1})
    with pytest.raises(Dropped):
        client.answer("POST", NETWORKS, VPC)
    other = Client(client.cloud.folder)
    assert other.ok("GET", f"{NETWORKS}/vpc")["name"] == "vpc"
    assert other.refused("POST", NETWORKS, VPC)[0] == 409
    assert other.seen()["faults"][1]["times"] == 0


def test_an_expired_token_is_refused(client: Client) -> None:
    client.faults(ON, {"fault": "expired-token", "times": 1})
    status, reason, message = client.refused("GET", NETWORKS)
    assert (status, reason) == (401, "authError")
    assert "invalid authentication credentials" in message
    client.ok("GET", NETWORKS)


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """The present moves on, for the emulator and the rules."""
    present = cloud.time.time()
    monkeypatch.setattr(cloud.time, "time", lambda: present + seconds)


def pool_status(client: Client) -> str:
    return client.ok("GET", f"{GKE}/clusters/gke/nodePools/tpu")["status"]


def test_a_stock_out_ends_after_so_many_attempts_of_gke(cluster: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.faults(ON, {"fault": "stockout", "zone": "us-east5-*", "capacity": "on-demand", "times": 2})
    operation = cluster.ok("POST", f"{GKE}/clusters/gke/nodePools", {"nodePool": POOL})
    assert "[GCE_STOCKOUT]" in operation["error"]["message"]
    assert pool_status(cluster) == "ERROR"
    later(monkeypatch, pool_capacity.RETRY_SECONDS)
    assert pool_status(cluster) == "ERROR"
    later(monkeypatch, pool_capacity.RETRY_SECONDS)
    assert pool_status(cluster) == "RUNNING"
    assert "statusMessage" not in cluster.ok("GET", f"{GKE}/clusters/gke/nodePools/tpu")


@pytest.mark.parametrize("other", [{"zone": "us-east5-c"}, {"capacity": "spot"}, {"resource": "*/nodePools/other"}])
def test_a_stock_out_of_another_zone_capacity_or_pool_is_none(cluster: Client, other: dict[str, str]) -> None:
    cluster.faults(ON, {"fault": "stockout", **other})
    cluster.ok("POST", f"{GKE}/clusters/gke/nodePools", {"nodePool": POOL})
    assert pool_status(cluster) == "RUNNING"


def test_a_pool_without_nodes_does_not_use_up_a_stock_out(cluster: Client) -> None:
    cluster.faults(ON, {"fault": "stockout", "times": 1})
    cluster.ok("POST", f"{GKE}/clusters/gke/nodePools", {"nodePool": {**POOL, "initialNodeCount": 0}})
    assert cluster.seen()["faults"][1]["times"] == 1


def test_hosts_that_are_reclaimed_come_back_and_the_size_of_their_group_stays(
    cluster: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.ok("POST", f"{GKE}/clusters/gke/nodePools", {"nodePool": POOL})
    cluster.faults(ON, {"fault": "reclaimed", "resource": "*/nodePools/tpu", "seconds": 30, "times": 1})

    def group() -> tuple[int, bool, int]:
        listed = cluster.ok("GET", f"{COMPUTE}/zones/us-east5-b/instanceGroupManagers")["items"]
        result = next(one for one in listed if "-tpu-" in one["name"])
        return result["targetSize"], result["status"]["isStable"], result["currentActions"]["creating"]

    assert group() == (1, False, 1)
    later(monkeypatch, 31)
    assert group() == (1, True, 0)


def test_an_api_that_is_enabled_is_used_only_when_every_server_of_google_knows_it(
    bare: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare.faults({"fault": "world", "usableAfter": {"compute.googleapis.com": 20}})
    services = "serviceusage.googleapis.com/v1/projects/my-project/services"
    bare.ok("POST", f"{services}:batchEnable", {"serviceIds": ["compute.googleapis.com"]})
    assert bare.ok("GET", f"{services}/compute.googleapis.com")["state"] == "ENABLED"
    assert bare.refused("POST", NETWORKS, VPC)[:2] == (403, "accessNotConfigured")
    later(monkeypatch, 21)
    bare.ok("POST", NETWORKS, VPC)


def test_a_network_stays_in_use_for_a_while_after_its_cluster_is_gone(
    cluster: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.faults({"fault": "world", "enabledApis": ["*"], "inUseAfterCluster": 30})
    cluster.ok("DELETE", f"{GKE}/clusters/gke")
    cluster.ok("DELETE", f"{COMPUTE}/regions/us-east5/subnetworks/nodes")
    status, reason, message = cluster.refused("DELETE", f"{NETWORKS}/vpc")
    assert (status, reason) == (400, "resourceInUseByAnotherResource")
    assert "networkEndpointGroups" in message
    later(monkeypatch, 31)
    cluster.ok("DELETE", f"{NETWORKS}/vpc")


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ({"fault": "meteor"}, "'meteor' is not known. Allowed: error"),
        ({"fault": "slow", "second": 1}, "unknown second"),
        ({"fault": "error", "times": "two"}, 'times is "two". Allowed: a whole number, 0 or more'),
        ({"fault": "error", "after": 1.5}, "after is 1.5. Allowed: a whole number"),
        ({"fault": "error", "times": True}, "times is true"),
        ({"fault": "error", "code": 200}, "code is 200. Allowed: an HTTP error status, 400 to 599"),
        ({"fault": "slow", "seconds": "5"}, 'seconds is "5". Allowed: a number of seconds'),
        ({"fault": "slow", "seconds": -1}, "seconds is -1"),
        ({"fault": "world", "stockout": "us-east5-b"}, "Allowed: a list of strings"),
        ({"fault": "world", "quota": {"CT6E": "none"}}, "Allowed: an object of numbers"),
        ({"fault": "world", "billing": "no"}, "Allowed: true or false"),
    ],
)
def test_a_misspelt_fault_is_refused(client: Client, fault: dict[str, object], text: str) -> None:
    assert text in client.refused("PUT", "_emulator/faults", {"faults": [fault]})[2]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ({"fault": "stockout"}, True),
        ({"fault": "stockout", "zone": "us-east5-*"}, True),
        ({"fault": "stockout", "zone": "us-east5-a"}, False),
        ({"fault": "stockout", "capacity": "spot"}, True),
        ({"fault": "stockout", "capacity": "reserved"}, False),
        ({"fault": "stockout", "times": 0}, False),
        ({"fault": "world", "stockout": ["us-east5-b"]}, True),
        ({"fault": "world", "stockout": ["us-east5-a"]}, False),
        ({"fault": "slow", "zone": "us-east5-b"}, False),
    ],
)
def test_a_zone_is_out_of_stock_for_a_capacity_by_the_faults_in_force(fault: JsonObject, expected: bool) -> None:
    assert out_of_stock([fault], "us-east5-b", "spot") is expected


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ({"fault": "reclaimed"}, True),
        ({"fault": "reclaimed", "resource": "*/nodePools/tpu"}, True),
        ({"fault": "reclaimed", "resource": "*/nodePools/other"}, False),
        ({"fault": "reclaimed", "resource": "*/nodePools/tpu", "times": 0}, False),
        ({"fault": "stockout", "resource": "*/nodePools/tpu"}, False),
    ],
)
def test_a_pool_has_lost_its_hosts_by_the_faults_in_force(fault: JsonObject, expected: bool) -> None:
    assert reclaimed([fault], "projects/p/locations/us-east5/clusters/gke/nodePools/tpu") is expected
