"""Compute Engine: network, subnetworks, router, NAT, addresses, firewall, certificates, policies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ipaddress import IPv4Network

from llmd_gke.laptop.standins.core.rules import Failure
from llmd_gke.laptop.standins.core.values import JsonObject, JsonValue, dig, objects, text
from llmd_gke.laptop.standins.google.kind import Kind, Target, World, digits, failed, in_use, missing, short

API = "compute.googleapis.com"
NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
ROUTER = "gcp:compute/router:Router"
ROUTER_NAT = "gcp:compute/routerNat:RouterNat"
ADDRESS = "gcp:compute/address:Address"
FIREWALL = "gcp:compute/firewall:Firewall"
CLUSTER = "gcp:container/cluster:Cluster"
NODE_POOL = "gcp:container/nodePool:NodePool"

_PROXY = "REGIONAL_MANAGED_PROXY"


def link(target: Target) -> str:
    """The object's URL."""
    return f"https://www.googleapis.com/compute/v1/{target.id}"


def _owner(reference: str, project: str) -> str:
    """The project in a reference, else the one given."""
    found = re.search(r"(?:^|/)projects/([^/]+)/", reference)
    return found[1] if found else project


def network_id(reference: str, project: str) -> str:
    """The id of a network that is referred to by name, id or URL; the last two may be of another project."""
    return f"projects/{_owner(reference, project)}/global/networks/{short(reference)}"


def subnetwork_id(reference: str, project: str, region: str) -> str:
    """The id of a subnetwork that is referred to by name, id or URL; the last two may be of another project."""
    return f"projects/{_owner(reference, project)}/regions/{region}/subnetworks/{short(reference)}"


def _network_exists(title: str, world: World, target: Target) -> str:
    ident = network_id(target.text("network"), target.project)
    if world.get(NETWORK, ident) is None:
        raise missing(title, ident)
    return ident


def _network_outputs(target: Target) -> JsonObject:
    number = digits(target.id)
    return {"selfLink": link(target), "gatewayIpv4": "", "networkId": number, "numericId": number}


def _network_free(world: World, target: Target) -> None:
    """Compute Engine keeps a network while anything is in it: error ``resourceInUseByAnotherResource``."""
    for kind in (SUBNETWORK, ROUTER, FIREWALL, CLUSTER):
        for ident, record in world.all(kind).items():
            if network_id(text(record, "inputs", "network"), target.project) == target.id:
                raise in_use("Network", "network", target.id, ident)


def _ranges(inputs: JsonValue) -> Iterator[str]:
    if text(inputs, "ipCidrRange"):
        yield text(inputs, "ipCidrRange")
    for secondary in objects(inputs, "secondaryIpRanges"):
        if text(secondary, "ipCidrRange"):
            yield text(secondary, "ipCidrRange")


def _subnetwork_create(world: World, target: Target) -> None:
    network = _network_exists("Subnetwork", world, target)
    region = target.place["region"]
    own = [IPv4Network(cidr) for cidr in _ranges(target.inputs)]
    for index, cidr in enumerate(own):
        if any(cidr.overlaps(other) for other in own[:index]):
            raise failed(
                "Error creating Subnetwork",
                400,
                f"Invalid IPCidrRange: {cidr} overlaps with a range of the same subnetwork",
                "invalid",
            )
    for ident, record in world.all(SUBNETWORK).items():
        other = record["inputs"]
        if ident == target.id or network_id(text(other, "network"), target.project) != network:
            continue
        other_region = ident.split("/")[3]
        for taken in _ranges(other):
            for cidr in own:
                # https://cloud.google.com/vpc/docs/subnets#ipv4-ranges: ranges of a network must not overlap.
                if cidr.overlaps(IPv4Network(taken)):
                    where = f"existing subnetwork '{short(ident)}' in region '{other_region}'"
                    message = f"Invalid IPCidrRange: {cidr} conflicts with {where}."
                    raise failed("Error creating Subnetwork", 400, message, "invalid")
        # https://cloud.google.com/load-balancing/docs/proxy-only-subnets: one active per region, network and purpose.
        if other_region == region and _active_proxy(target.inputs) and _active_proxy(other):
            message = (
                f"Invalid value for field 'resource.role': 'ACTIVE'. There is already an active {_PROXY} subnetwork "
                f"'{short(ident)}' in region '{region}' of network '{short(network)}'."
            )
            raise failed("Error creating Subnetwork", 400, message, "invalid")


def _active_proxy(inputs: JsonValue) -> bool:
    return text(inputs, "purpose") == _PROXY and text(inputs, "role") == "ACTIVE"


def _subnetwork_update(world: World, target: Target, old: JsonObject) -> None:
    del old
    _subnetwork_create(world, target)


def _subnetwork_free(world: World, target: Target) -> None:
    project, region = target.project, target.place["region"]
    for kind in (CLUSTER, ADDRESS):
        for ident, record in world.all(kind).items():
            reference = text(record, "inputs", "subnetwork")
            if reference and f"/{region}" in ident and subnetwork_id(reference, project, region) == target.id:
                raise in_use("Subnetwork", "subnetwork", target.id, ident)


def _subnetwork_outputs(target: Target) -> JsonObject:
    cidr = target.text("ipCidrRange")
    return {
        "selfLink": link(target),
        "gatewayAddress": str(next(IPv4Network(cidr).hosts())) if cidr else "",
        "creationTimestamp": "2026-01-01T00:00:00.000-08:00",
        "fingerprint": digits(target.id, 12),
        "subnetworkId": int(digits(target.id, 9)),
        "stackType": "IPV4_ONLY",
        "purpose": "PRIVATE",
        "privateIpGoogleAccess": False,
    }


def _subnetwork_check(target: Target) -> Iterator[Failure]:
    for cidr in _ranges(target.inputs):
        try:
            IPv4Network(cidr)
        except ValueError as error:
            # upstream ValidateIpCidrRange; Go's net.ParseCIDR does not mind host bits, the API does.
            yield Failure("ipCidrRange", f"{cidr!r} is not a valid IP CIDR range: {error}")


def _shrinks(old: object, new: object) -> bool:
    """Upstream ``IsShrinkageIpCidr``: a range may grow in place, anything else is a new subnetwork."""
    try:
        return not IPv4Network(str(new)).supernet_of(IPv4Network(str(old)))
    except ValueError:
        return True


def _nat_create(world: World, target: Target) -> None:
    project, region = target.project, target.place["region"]
    router_id = f"projects/{project}/regions/{region}/routers/{short(target.text('router'))}"
    router = world.get(ROUTER, router_id)
    if router is None:
        raise missing("RouterNat", router_id)
    network = network_id(text(router, "inputs", "network"), project)
    if not _all_ranges(target.inputs):
        return
    for ident, record in world.all(ROUTER_NAT).items():
        other_id = f"projects/{project}/regions/{region}/routers/{short(text(record, 'inputs', 'router'))}"
        other = world.get(ROUTER, other_id)
        taken = ident != target.id and ident.split("/")[1] == region and other is not None
        # https://cloud.google.com/nat/docs/nat-product-interactions: a range belongs to one gateway at most.
        if taken and network_id(text(other, "inputs", "network"), project) == network and _all_ranges(record["inputs"]):
            message = (
                f"Invalid value for field 'resource.nats': another NAT '{short(ident)}' of network '{short(network)}' "
                f"in region '{region}' already covers all subnetwork IP ranges"
            )
            raise failed("Error creating RouterNat", 400, message, "invalid")


def _nat_update(world: World, target: Target, old: JsonObject) -> None:
    del old
    _nat_create(world, target)


def _all_ranges(inputs: JsonValue) -> bool:
    return text(inputs, "sourceSubnetworkIpRangesToNat").startswith("ALL_SUBNETWORKS")


def _router_free(world: World, target: Target) -> None:
    """Deleting a router deletes its NAT gateways: they are part of the router (upstream patches the router)."""
    for ident, record in list(world.all(ROUTER_NAT).items()):
        project, region, *_ = ident.split("/")
        if f"projects/{project}/regions/{region}/routers/{short(text(record, 'inputs', 'router'))}" == target.id:
            world.drop(ROUTER_NAT, ident)


def _address_create(world: World, target: Target) -> None:
    reference = target.text("subnetwork")
    if reference:
        ident = subnetwork_id(reference, target.project, target.place["region"])
        if world.get(SUBNETWORK, ident) is None:
            raise missing("Address", ident)
    wanted = target.text("address")
    if wanted and any(
        dig(r, "computed", "address") == wanted or text(r, "inputs", "address") == wanted
        for r in world.all(ADDRESS).values()
    ):
        raise failed(
            "Error creating Address", 400, f"Specified IP address is in-use: {wanted}", "ipInUseByAnotherResource"
        )


def _address_outputs(target: Target) -> JsonObject:
    host = int(digits(target.id, 6)) % 250 + 2
    inside = target.text("addressType") == "INTERNAL"
    # 203.0.113.0/24 is reserved for documentation (RFC 5737): nothing answers there.
    return {
        "selfLink": link(target),
        "address": f"10.0.0.{host}" if inside else f"203.0.113.{host}",
        "addressId": int(digits(target.id, 9)),
        "creationTimestamp": "2026-01-01T00:00:00.000-08:00",
        "labelFingerprint": digits(target.id, 12),
        "networkTier": "PREMIUM",
        "purpose": "GCE_ENDPOINT" if inside else "",
        "prefixLength": 0,
        "users": [],
    }


def _address_check(target: Target) -> Iterator[Failure]:
    inside = target.text("addressType") == "INTERNAL"
    if inside and target.text("networkTier") and target.text("networkTier") != "PREMIUM":
        # Compute API reference, addresses.networkTier: internal addresses are always Premium Tier.
        yield Failure("networkTier", "an internal address is always in the PREMIUM tier")
    if not inside and target.text("subnetwork"):
        # upstream resource_compute_address.go, description of subnetwork: "can only be used with INTERNAL type".
        yield Failure("subnetwork", "this field can only be used with INTERNAL type with a GCE_ENDPOINT, ... purpose")


def _policy_free(world: World, target: Target) -> None:
    """Compute Engine keeps a resource policy while a node pool's instance group uses it."""
    for ident, record in world.all(NODE_POOL).items():
        policy = text(record, "inputs", "placementPolicy", "policyName")
        if policy and short(policy) == short(target.id) and ident.split("/")[1] == target.project:
            raise in_use("ResourcePolicy", "resourcePolicy", target.id, ident)


def _plain_outputs(target: Target) -> JsonObject:
    return {"selfLink": link(target), "creationTimestamp": "2026-01-01T00:00:00.000-08:00"}


def _needs_network(title: str) -> Callable[[World, Target], None]:
    def create(world: World, target: Target) -> None:
        _network_exists(title, world, target)

    return create


KINDS: dict[str, Kind] = {
    NETWORK: Kind(
        id="projects/{project}/global/networks/{name}",
        title="Network",
        source="compute/resource_compute_network.go",
        api=API,
        force_new=(
            "name",
            "project",
            "autoCreateSubnetworks",
            "description",
            "internalIpv6Range",
            "networkProfile",
            "params",
        ),
        defaults={
            "autoCreateSubnetworks": True,
            "deleteDefaultRoutesOnCreate": False,
            "networkFirewallPolicyEnforcementOrder": "AFTER_CLASSIC_FIREWALL",
        },
        computed=_network_outputs,
        delete=_network_free,
    ),
    SUBNETWORK: Kind(
        id="projects/{project}/regions/{region}/subnetworks/{name}",
        title="Subnetwork",
        source="compute/resource_compute_subnetwork.go",
        api=API,
        # purpose and role are not ForceNew upstream; the API refuses a change of purpose.
        force_new=(
            "name",
            "project",
            "region",
            "network",
            "description",
            "externalIpv6Prefix",
            "internalIpv6Prefix",
            "params",
            "reservedInternalRange",
            "resolveSubnetMask",
        ),
        force_new_if={"ipCidrRange": _shrinks},
        computed=_subnetwork_outputs,
        check=_subnetwork_check,
        create=_subnetwork_create,
        update=_subnetwork_update,
        delete=_subnetwork_free,
    ),
    ROUTER: Kind(
        id="projects/{project}/regions/{region}/routers/{name}",
        title="Router",
        source="compute/resource_compute_router.go",
        api=API,
        force_new=("name", "project", "region", "network", "encryptedInterconnectRouter", "nccGateway", "params"),
        computed=_plain_outputs,
        create=_needs_network("Router"),
        delete=_router_free,
    ),
    ROUTER_NAT: Kind(
        id="{project}/{region}/{router}/{name}",
        title="RouterNat",
        source="compute/resource_compute_router_nat.go",
        api=API,
        force_new=("name", "project", "region", "router", "endpointTypes", "initialNatIps", "type"),
        defaults={
            "icmpIdleTimeoutSec": 30,
            "tcpEstablishedIdleTimeoutSec": 1200,
            "tcpTimeWaitTimeoutSec": 120,
            "tcpTransitoryIdleTimeoutSec": 30,
            "type": "PUBLIC",
            "udpIdleTimeoutSec": 30,
        },
        computed=lambda _: {"autoNetworkTier": "PREMIUM", "endpointTypes": ["ENDPOINT_TYPE_VM"]},
        create=_nat_create,
        update=_nat_update,
    ),
    ADDRESS: Kind(
        id="projects/{project}/regions/{region}/addresses/{name}",
        title="Address",
        source="compute/resource_compute_address.go",
        api=API,
        # Everything but labels: the API can only set labels of an address.
        force_new=(
            "name",
            "project",
            "region",
            "address",
            "addressType",
            "description",
            "ipCollection",
            "ipVersion",
            "ipv6EndpointType",
            "network",
            "networkTier",
            "prefixLength",
            "purpose",
            "subnetwork",
        ),
        defaults={"addressType": "EXTERNAL"},
        computed=_address_outputs,
        labels="labels",
        check=_address_check,
        create=_address_create,
    ),
    FIREWALL: Kind(
        id="projects/{project}/global/firewalls/{name}",
        title="Firewall",
        source="compute/resource_compute_firewall.go",
        api=API,
        force_new=("name", "project", "direction", "params"),
        defaults={"priority": 1000},
        computed=_plain_outputs,
        create=_needs_network("Firewall"),
    ),
    "gcp:compute/regionSslPolicy:RegionSslPolicy": Kind(
        id="projects/{project}/regions/{region}/sslPolicies/{name}",
        title="RegionSslPolicy",
        source="compute/resource_compute_region_ssl_policy.go",
        api=API,
        force_new=("name", "project", "region", "description"),
        defaults={"minTlsVersion": "TLS_1_0", "profile": "COMPATIBLE"},
        computed=lambda target: _plain_outputs(target) | {"enabledFeatures": [], "fingerprint": digits(target.id, 12)},
    ),
    "gcp:compute/regionSslCertificate:RegionSslCertificate": Kind(
        id="projects/{project}/regions/{region}/sslCertificates/{name}",
        title="RegionSslCertificate",
        source="compute/resource_compute_region_ssl_certificate.go",
        api=API,
        force_new=(
            "name",
            "namePrefix",
            "project",
            "region",
            "description",
            "certificate",
            "privateKey",
            "privateKeyWoVersion",
        ),
        computed=lambda target: (
            _plain_outputs(target)
            | {"certificateId": int(digits(target.id, 9)), "expireTime": "2027-01-01T00:00:00.000-08:00"}
        ),
        secrets=(("certificate",), ("privateKey",)),
    ),
    "gcp:compute/resourcePolicy:ResourcePolicy": Kind(
        id="projects/{project}/regions/{region}/resourcePolicies/{name}",
        title="ResourcePolicy",
        source="compute/resource_compute_resource_policy.go",
        api=API,
        force_new=(
            "name",
            "project",
            "region",
            "diskConsistencyGroupPolicy.enabled",
            "groupPlacementPolicy.gpuTopology",
            "groupPlacementPolicy.tpuTopology",
            "workloadPolicy",
        ),
        computed=lambda target: {"selfLink": link(target)},
        delete=_policy_free,
    ),
}
