"""What the services refuse, and what no recording of Google shows (``published_provider``)."""

from __future__ import annotations

import pytest

from localcloud.tests.google_api.conftest import COMPUTE, GKE, POOL, Client, Props

REGION = f"{COMPUTE}/regions/us-east5"
THROTTLE: Props = {
    "priority": 1000,
    "action": "throttle",
    "match": {"versionedExpr": "SRC_IPS_V1", "config": {"srcIpRanges": ["192.0.2.0/24"]}},
    "rateLimitOptions": {
        "conformAction": "allow",
        "exceedAction": "deny(429)",
        "enforceOnKey": "IP",
        "rateLimitThreshold": {"count": 600, "intervalSec": 60},
    },
}
DENY_OTHERS: Props = {
    "priority": 2147483647,
    "action": "deny(403)",
    "match": {"versionedExpr": "SRC_IPS_V1", "config": {"srcIpRanges": ["*"]}},
}


@pytest.mark.parametrize("cidr", ["10.0.8.0/24", "10.4.0.0/24", "10.20.0.0/30"])
def test_a_range_that_cannot_be_is_refused_by_the_rules_of_the_stand_in(network: Client, cidr: str) -> None:
    subnet = {"name": "more", "network": "projects/my-project/global/networks/vpc", "ipCidrRange": cidr}
    assert network.refused("POST", f"{REGION}/subnetworks", subnet)[:2] == (400, "invalid")


def test_a_pool_that_the_rules_refuse_is_not_made(cluster: Client) -> None:
    pool = {**POOL, "config": {"machineType": "ct6e-standard-4t", "diskType": "pd-balanced"}}
    status, _, message = cluster.refused("POST", f"{GKE}/clusters/gke/nodePools", {"nodePool": pool})
    assert status == 400
    assert "are not compatible for creating instance" in message
    assert cluster.refused("GET", f"{GKE}/clusters/gke/nodePools/tpu")[0] == 404


def test_a_security_policy_keeps_its_rules_and_has_one_for_everyone_else(client: Client) -> None:
    path = f"{REGION}/securityPolicies"
    client.ok("POST", path, {"name": "empty"})
    (rule,) = client.ok("GET", f"{path}/empty")["rules"]
    assert (rule["priority"], rule["action"]) == (2147483647, "allow")
    client.ok("POST", path, {"name": "armor", "rules": [THROTTLE, DENY_OTHERS]})
    made = client.ok("GET", f"{path}/armor")
    assert (made["type"], made["rules"]) == ("CLOUD_ARMOR", [THROTTLE, DENY_OTHERS])
    client.ok("PATCH", f"{path}/armor", {"rules": [DENY_OTHERS], "fingerprint": made["fingerprint"]})
    assert client.ok("GET", f"{path}/armor")["rules"] == [DENY_OTHERS]
    assert client.refused("PATCH", f"{path}/armor", {"rules": [], "fingerprint": made["fingerprint"]})[0] == 412
    assert client.refused("PATCH", f"{path}/armor", {"rules": [THROTTLE]})[:2] == (400, "invalid")
    for name in ("armor", "empty"):
        client.ok("DELETE", f"{path}/{name}")
    assert client.ok("GET", path).get("items", []) == []
