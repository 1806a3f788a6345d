"""Faults on demand: each strikes where it was asked for, as often as it was asked for."""

from __future__ import annotations

import pytest

from localcloud.google_api.core import cloud
from localcloud.google_api.server import Dropped
from tests.localcloud.google_api.conftest import COMPUTE, GKE, POOL, Client

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


def test_a_slow_operation_runs_until_its_time_is_over(cluster: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.faults(ON, {"fault": "slow", "method": "container.*", "seconds": 100, "times": 1})
    operation = cluster.ok("POST", f"{GKE}/clusters/gke/nodePools", {"nodePool": POOL})
    path = f"{GKE}/operations/{operation['name']}"
    assert cluster.ok("GET", path)["status"] == "RUNNING"
    assert cluster.ok("GET", f"{GKE}/clusters/gke/nodePools/tpu")["status"] == "PROVISIONING"
    present = cloud.time.time()
    monkeypatch.setattr(cloud.time, "time", lambda: present + 101)
    assert cluster.ok("GET", path)["status"] == "DONE"
    assert cluster.ok("GET", f"{GKE}/clusters/gke/nodePools/tpu")["status"] == "RUNNING"


def test_a_lost_connection_leaves_what_was_made(client: Client) -> None:
    client.faults(ON, {"fault": "drop", "method": "compute.networks.insert", "times": 1})
    with pytest.raises(Dropped):
        client.answer("POST", NETWORKS, VPC)
    assert client.refused("POST", NETWORKS, VPC)[0] == 409


def test_an_expired_token_is_refused(client: Client) -> None:
    client.faults(ON, {"fault": "expired-token", "times": 1})
    status, reason, message = client.refused("GET", NETWORKS)
    assert (status, reason) == (401, "authError")
    assert "invalid authentication credentials" in message
    client.ok("GET", NETWORKS)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"fault": "meteor"}, "'meteor' is not known. Allowed: error"),
        ({"fault": "slow", "second": 1}, "unknown second"),
    ],
)
def test_a_misspelt_fault_is_refused(client: Client, fault: dict[str, object], words: str) -> None:
    assert words in client.refused("PUT", "_emulator/faults", {"faults": [fault]})[2]
