"""Networks, addresses, NAT and policies: what Compute Engine refuses, and what it lets pass."""

from __future__ import annotations

import json

import pytest

from localcloud.google_api.rules.resource_type import digits
from localcloud.product import REGIONAL_EXTERNAL, REGIONAL_INTERNAL
from localcloud.tests.google_api.conftest import CLUSTER, COMPUTE, GKE, REGION, VPC, Client, Props

NETWORKS, SUBNETS, ADDRESSES = f"{COMPUTE}/global/networks", f"{REGION}/subnetworks", f"{REGION}/addresses"
ROUTERS, POLICIES = f"{REGION}/routers", f"{REGION}/securityPolicies"
NO_NETWORK = "404 notFound The resource 'projects/my-project/global/networks/none' was not found"
TIER = "An address with type INTERNAL cannot have a network tier"
NODES = "projects/my-project/regions/us-east5/subnetworks/nodes"
PODS: Props = {"rangeName": "pods", "ipCidrRange": "10.4.0.0/14"}
SPARE: Props = {"rangeName": "spare", "ipCidrRange": "10.8.0.0/20"}
OLDER = "projects/corp-net/regions/us-east5/subnetworks/gke"
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


def subnet(cidr: str = "10.20.0.0/20", name: str = "more", **over: object) -> Props:
    return {"name": name, "network": VPC, "ipCidrRange": cidr, **over}


def proxies(cidr: str = "10.128.0.0/23", name: str = "proxies", role: str = "ACTIVE") -> Props:
    return subnet(cidr, name, purpose="REGIONAL_MANAGED_PROXY", role=role)


def inside(**over: object) -> Props:
    return {"name": "ip", "addressType": "INTERNAL", "subnetwork": NODES, **over}


def router(name: str) -> Props:
    nat = {"name": "nat", "natIpAllocateOption": "AUTO_ONLY"}
    return {
        "name": name,
        "network": VPC,
        "nats": [nat | {"sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES"}],
    }


def armor(*rules: Props) -> Props:
    return {"name": "armor", "type": "CLOUD_ARMOR", "rules": list(rules)}


def throttle(**options: object) -> Props:
    return {**THROTTLE, "rateLimitOptions": {**THROTTLE["rateLimitOptions"], **options}}


def limit(count: int, seconds: int) -> Props:
    return throttle(rateLimitThreshold={"count": count, "intervalSec": seconds})


MANY = {**DENY_OTHERS, "priority": 1, "match": {"config": {"srcIpRanges": [f"192.0.2.{n}" for n in range(11)]}}}


@pytest.mark.parametrize(
    ("path", "body", "text"),
    [
        (NETWORKS, {"name": "vpc"}, "409 alreadyExists The resource 'projects/my-project/global/networks/vpc' already"),
        (SUBNETS, subnet(network="none"), NO_NETWORK),
        (SUBNETS, subnet("10.5.0.0/16"), "10.5.0.0/16 conflicts with existing subnetwork 'nodes'"),
        (SUBNETS, subnet("10.0.8.0/24"), "10.0.8.0/24 conflicts with existing subnetwork 'nodes'"),
        (SUBNETS, subnet("10.20.0.0/30"), "'10.20.0.0/30'. The range is too small"),
        (SUBNETS, subnet("10.20.0.1/24"), "'10.20.0.1/24'. It is not a range: 10.20.0.1/24 has host bits set"),
        (SUBNETS, subnet("10.20.0.0/33"), "It is not a range"),
        (SUBNETS, subnet("fd20::/64"), "It is not a range"),
        (SUBNETS, subnet(secondaryIpRanges=[PODS | {"ipCidrRange": "10.32.0.1/14"}]), "has host bits set"),
        (SUBNETS, subnet(secondaryIpRanges=[PODS | {"ipCidrRange": "10.20.8.0/24"}]), "overlaps with a range"),
        (SUBNETS, proxies("10.130.0.0/23", "second"), "already an active REGIONAL_MANAGED_PROXY subnetwork 'proxies'"),
        (ADDRESSES, inside(networkTier="STANDARD"), TIER),
        (ADDRESSES, inside(networkTier="PREMIUM"), TIER),
        (ADDRESSES, inside(addressType="EXTERNAL"), "An address with type EXTERNAL cannot have a subnetwork"),
        (ADDRESSES, inside(addressType=None), "An address with type EXTERNAL cannot have a subnetwork"),
        (ADDRESSES, inside(subnetwork=OLDER), f"404 notFound The resource '{OLDER}' was not found"),
        (ADDRESSES, {"name": "ip", "address": "203.0.113.9"}, "Specified IP address is in-use: 203.0.113.9"),
        (ROUTERS, {"name": "two", "network": "none"}, NO_NETWORK),
        (ROUTERS, router("two"), "another NAT 'nat' of network 'vpc'"),
        (POLICIES, armor(THROTTLE), "default rule with priority 2147483647"),
        (POLICIES, armor(THROTTLE, THROTTLE, DENY_OTHERS), "same priorities"),
        (POLICIES, armor({**DENY_OTHERS, "action": "deny(429)"}), "rules[0].action': 'deny(429)'"),
        (POLICIES, armor({**THROTTLE, "action": "allow"}, DENY_OTHERS), "rateLimitOptions': must be set for throttle"),
        (POLICIES, armor({**DENY_OTHERS, "action": "throttle"}), "rateLimitOptions': must be set for throttle"),
        (POLICIES, armor(limit(0, 60), DENY_OTHERS), "not between 1 and"),
        (POLICIES, armor(limit(6, 61), DENY_OTHERS), "intervalSec': '61'"),
        (POLICIES, armor(throttle(conformAction="deny(403)"), DENY_OTHERS), "conformAction': must be allow"),
        (POLICIES, armor(throttle(exceedAction="allow"), DENY_OTHERS), "exceedAction': 'allow'"),
        (POLICIES, armor(MANY, DENY_OTHERS), "has 11 elements"),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_refused(network: Client, path: str, body: Props, text: str) -> None:
    network.ok("POST", SUBNETS, proxies())
    network.ok("POST", ROUTERS, router("one"))
    network.ok("POST", ADDRESSES, {"name": "taken", "address": "203.0.113.9"})
    status, reason, message = network.refused("POST", path, {key: value for key, value in body.items() if value})
    assert text in f"{status} {reason} {message}"
    assert text[0].isdigit() or status == 400


def test_an_older_subnet_is_there_only_where_a_fault_says_so(client: Client) -> None:
    older = {"network": "corp", "ipCidrRange": "10.0.0.0/20"}
    client.faults({"fault": "world", "enabledApis": ["*"], "existingSubnets": {OLDER: older}})
    client.ok("POST", ADDRESSES, inside(subnetwork=OLDER))
    corp = "projects/corp-net/global/networks/corp"
    more = subnet("10.0.8.0/24", network=corp)
    assert "conflicts with existing subnetwork 'gke'" in client.refused("POST", SUBNETS, more)[2]
    client.ok("POST", SUBNETS, subnet("10.1.0.0/24", network=corp))
    there = "compute.googleapis.com/compute/v1/projects/corp-net/global/networks"
    assert client.refused("POST", there, {"name": "corp"})[0] == 409


# -- in use ------------------------------------------------------------------------------------------------------------


def gateway(
    client: Client, *addresses: str, name: str = "inference-gateway", gateway_class: str = REGIONAL_EXTERNAL
) -> None:
    """Leaves a Gateway in the file of the Kubernetes stand-in, or none."""
    named = [{"type": "NamedAddress", "value": one} for one in addresses]
    spec = {"gatewayClassName": gateway_class, "addresses": named}
    gateways = {f"edge/{name}": {"inputs": {"spec": spec}}} if name else {}
    at = f"projects/my-project/locations/us-east5/clusters/{CLUSTER['name']}"
    content = {"clusters": {at: {"gateway.networking.k8s.io/v1/Gateway": gateways}}}
    (client.cloud.folder / "kubernetes.json").write_text(json.dumps(content))


RULE = "regions/us-east5/forwardingRules/gkegw1-"


@pytest.mark.parametrize(
    ("steps", "user"),
    [
        ([f"{NETWORKS}/vpc"], "/subnetworks/"),
        ([f"{SUBNETS}/nodes"], "/clusters/gke'"),
        ([f"{GKE}/clusters/gke", f"{SUBNETS}/nodes"], "/addresses/inside'"),
        ([f"{SUBNETS}/proxies"], RULE),
        ([f"{ADDRESSES}/gateway"], RULE),
    ],
)
def test_what_is_in_use_stays(cluster: Client, steps: list[str], user: str) -> None:
    cluster.ok("POST", SUBNETS, proxies())
    for address in ({"name": "gateway"}, {"name": "free"}, inside(name="inside")):
        cluster.ok("POST", ADDRESSES, address)
    gateway(cluster, "gateway")
    for step in steps[:-1]:
        cluster.ok("DELETE", step)
    status, reason, message = cluster.refused("DELETE", steps[-1])
    assert (status, reason) == (400, "resourceInUseByAnotherResource")
    assert user in message
    cluster.ok("DELETE", f"{ADDRESSES}/free")


@pytest.mark.parametrize(
    "left",
    [{"name": ""}, {"gateway_class": "front-door"}, {"cluster": "gone"}],
    ids=["the Gateway is gone", "it is not a regional one of GKE's", "its cluster is gone"],
)
def test_what_no_gateway_of_gke_uses_can_go(cluster: Client, left: dict[str, str]) -> None:
    cluster.ok("POST", SUBNETS, proxies())
    cluster.ok("POST", ADDRESSES, {"name": "gateway"})
    if left.pop("cluster", ""):
        gateway(cluster, "gateway")
        cluster.ok("DELETE", f"{GKE}/clusters/gke")
    else:
        gateway(cluster, "gateway", **left)
    for path in (f"{SUBNETS}/proxies", f"{ADDRESSES}/gateway"):
        cluster.ok("DELETE", path)


def test_an_address_is_free_once_the_gateway_has_another_one(cluster: Client) -> None:
    for name in ("gateway", "gateway-internal"):
        cluster.ok("POST", ADDRESSES, {"name": name})
    gateway(cluster, "gateway-internal", gateway_class=REGIONAL_INTERNAL)
    cluster.ok("DELETE", f"{ADDRESSES}/gateway")
    cluster.refused("DELETE", f"{ADDRESSES}/gateway-internal")


@pytest.mark.parametrize(
    ("ranges", "text"),
    [
        (
            [PODS | {"ipCidrRange": "10.32.0.0/14"}, SPARE],
            "secondaryIpRanges[0].ipCidrRange': '10.32.0.0/14'. Existing",
        ),
        ([PODS, SPARE | {"ipCidrRange": "10.8.0.0/19"}], "Existing secondary range cannot be modified: 10.8.0.0/19."),
        ([PODS, SPARE | {"rangeName": "other"}], "Cannot add and remove secondary IP ranges in the same request"),
        ([SPARE], "is already being used by 'projects/my-project/locations/us-east5/clusters/gke'"),
        ([PODS], ""),
        ([PODS, SPARE, {"rangeName": "third", "ipCidrRange": "10.40.0.0/20"}], ""),
        ([SPARE, PODS], ""),
    ],
)
def test_a_secondary_range_comes_and_goes_and_never_changes(cluster: Client, ranges: list[Props], text: str) -> None:
    path = f"{SUBNETS}/nodes"
    cluster.ok("PATCH", path, {"secondaryIpRanges": [PODS, SPARE]})
    if text:
        assert text in cluster.refused("PATCH", path, {"secondaryIpRanges": ranges})[2]
    else:
        cluster.ok("PATCH", path, {"secondaryIpRanges": ranges})
        assert cluster.ok("GET", path)["secondaryIpRanges"] == ranges


@pytest.mark.parametrize(
    ("name", "cidr", "grows"),
    [
        ("nodes", "10.0.0.0/19", True),
        ("nodes", "10.0.0.0/21", False),
        ("nodes", "10.0.0.0/13", False),
        ("proxies", "10.128.0.0/22", False),
    ],
)
def test_only_a_subnet_for_machines_grows(network: Client, name: str, cidr: str, grows: bool) -> None:
    network.ok("POST", SUBNETS, proxies())
    status, _ = network.answer("POST", f"{SUBNETS}/{name}/expandIpCidrRange", {"ipCidrRange": cidr})
    assert status == (200 if grows else 400)


def test_a_security_policy_keeps_its_rules_and_has_one_for_everyone_else(client: Client) -> None:
    client.ok("POST", POLICIES, {"name": "empty"})
    (rule,) = client.ok("GET", f"{POLICIES}/empty")["rules"]
    assert (rule["priority"], rule["action"]) == (2147483647, "allow")
    client.ok("POST", POLICIES, armor(THROTTLE, DENY_OTHERS))
    made = client.ok("GET", f"{POLICIES}/armor")
    client.ok("PATCH", f"{POLICIES}/armor", {"rules": [DENY_OTHERS], "fingerprint": made["fingerprint"]})
    assert client.ok("GET", f"{POLICIES}/armor")["rules"] == [DENY_OTHERS]
    assert client.refused("PATCH", f"{POLICIES}/armor", {"rules": [], "fingerprint": made["fingerprint"]})[0] == 412
    assert client.refused("PATCH", f"{POLICIES}/armor", {"rules": [THROTTLE]})[:2] == (400, "invalid")
    client.ok("DELETE", f"{POLICIES}/armor")


def test_the_id_of_a_subnet_of_any_name_fits_a_signed_integer() -> None:
    assert all(int(digits(f"projects/p/regions/r/subnetworks/{number}")) < 2**63 for number in range(200))
