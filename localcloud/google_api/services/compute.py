"""Compute Engine: every type that the rules know, such as networks, routers with their NAT, addresses and policies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network

from localcloud.google_api.core import discovery
from localcloud.google_api.core.errors import ApiError, exists, not_found
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.rules import compute, nat, network, references, security_policies
from localcloud.google_api.rules.compute import reserved_address
from localcloud.google_api.rules.resource_type import CloudState, ResourceType, TargetResource, digits
from localcloud.google_api.services.compute_operations import begin
from localcloud.google_api.services.links import compute_link
from localcloud.providers.protocol.values import JsonObject, JsonValue, dig, merge, objects, text

KINDS: dict[str, ResourceType] = {**compute.KINDS, **network.KINDS, **nat.KINDS, **security_policies.KINDS}
"""By type, the rules that are applied."""
CREATED = "2026-01-01T00:00:00.000-08:00"


# -- names and bodies, as the rules know them ------------------------------------------------------------------------


@dataclass(frozen=True)
class ComputeCollection:
    """A collection. ``token``: the type whose rules apply. ``sort``: its ``kind``. ``added``: what Google adds."""

    token: str
    path: str
    parameter: str
    sort: str
    added: Callable[[TargetResource], JsonObject]


def _inputs(collection: ComputeCollection, body: JsonObject) -> JsonObject:
    names = {"allowed": "allows", "denied": "denies"} if collection.path == "firewalls" else {}
    return {names.get(key, key): value for key, value in body.items() if key != "nats"}


def _target(request: Request, collection: ComputeCollection, name: str, body: JsonObject) -> TargetResource:
    project, region = request.at["project"], request.at.get("region", "")
    scope = f"regions/{region}" if region else "global"
    location = {"project": project, "region": region, "zone": "", "location": region}
    return TargetResource(
        collection.token, f"projects/{project}/{scope}/{collection.path}/{name}", _inputs(collection, body), location
    )


# -- what Google adds to a body --------------------------------------------------------------------------------------


def _network(target: TargetResource) -> JsonObject:
    del target
    return {
        "autoCreateSubnetworks": True,
        "networkFirewallPolicyEnforcementOrder": "AFTER_CLASSIC_FIREWALL",
        "routingConfig": {"routingMode": "REGIONAL", "bgpBestPathSelectionMode": "LEGACY"},
    }


def _subnetwork(target: TargetResource) -> JsonObject:
    private: JsonObject = {
        "privateIpGoogleAccess": False,
        "privateIpv6GoogleAccess": "DISABLE_GOOGLE_ACCESS",
        "stackType": "IPV4_ONLY",
        "enableFlowLogs": False,
    }
    proxy = target.text("purpose") not in ("", "PRIVATE")
    gateway = str(IPv4Network(target.text("ipCidrRange")).network_address + 1)
    added: JsonObject = {"purpose": "PRIVATE", "gatewayAddress": gateway, "state": "READY"}
    return added if proxy else added | private


def _address(target: TargetResource) -> JsonObject:
    inside = target.text("addressType") == "INTERNAL"
    added: JsonObject = {"address": reserved_address(target), "addressType": "EXTERNAL", "status": "RESERVED"}
    added |= {"networkTier": "PREMIUM", "labelFingerprint": digits(target.id, 12)}
    return added | ({"purpose": "GCE_ENDPOINT"} if inside else {})


def _nothing(target: TargetResource) -> JsonObject:
    del target
    return {}


def _security_policy(target: TargetResource) -> JsonObject:
    del target
    match: JsonObject = {"versionedExpr": "SRC_IPS_V1", "config": {"srcIpRanges": ["*"]}}
    rule: JsonObject = {"priority": security_policies.LAST, "action": "allow", "match": match, "preview": False}
    return {"type": "CLOUD_ARMOR", "rules": [rule]}


ADDED: dict[str, Callable[[TargetResource], JsonObject]] = {
    references.NETWORK: _network,
    references.SUBNETWORK: _subnetwork,
    references.ADDRESS: _address,
    references.FIREWALL: lambda _: {
        "priority": 1000,
        "direction": "INGRESS",
        "disabled": False,
        "logConfig": {"enable": False},
    },
    security_policies.POLICY: _security_policy,
    "gcp:compute/resourcePolicy:ResourcePolicy": lambda _: {"status": "READY"},
    "gcp:compute/regionSslPolicy:RegionSslPolicy": lambda _: {"minTlsVersion": "TLS_1_0", "profile": "COMPATIBLE"},
    "gcp:compute/regionSslCertificate:RegionSslCertificate": lambda _: {
        "type": "SELF_MANAGED",
        "expireTime": "2027-01-01T00:00:00.000-08:00",
    },
}
"""What Google adds to a body, by type; nothing to others."""


def _collections() -> Iterator[tuple[str, ComputeCollection]]:
    for token, kind in KINDS.items():
        if not (path := kind.collection):  # part of another resource, such as the NAT of a router
            continue
        name = token.rpartition(":")[2]
        single = name.removeprefix("Region")
        parameter = single[0].lower() + single[1:]
        method = path if single == name else f"region{path[0].upper()}{path[1:]}"
        yield method, ComputeCollection(token, path, parameter, f"compute#{parameter}", ADDED.get(token, _nothing))


COLLECTIONS = dict(_collections())
"""Collections by the part of the method's id that names them."""


def _collection(request: Request) -> ComputeCollection:
    return COLLECTIONS[request.method.id.split(".")[1]]


def _stored(request: Request, target: TargetResource, body: JsonObject) -> JsonObject:
    """The resource as Google shows it."""
    collection = _collection(request)
    made = merge(collection.added(target), {key: value for key, value in body.items() if value is not None})
    for key in ("network", "subnetwork"):  # whatever a reference was given as, Google shows the URL
        given = text(made, key)
        if given and "projects/" in given:
            made[key] = compute_link(given[given.find("projects/") :])
        elif given and key == "network":
            made[key] = compute_link(f"projects/{target.project}/global/networks/{given.rpartition('/')[2]}")
    made |= {
        "kind": collection.sort,
        "id": digits(target.id),
        "creationTimestamp": CREATED,
        "selfLink": compute_link(target.id),
    }
    if collection.path == "networks":
        made["selfLinkWithId"] = compute_link(f"{target.id.rpartition('/')[0]}/{digits(target.id)}")
    if "fingerprint" in discovery.fields(request.method):
        made["fingerprint"] = request.cloud.etag()
    if target.scope["region"]:
        made["region"] = compute_link(f"projects/{target.project}/regions/{target.scope['region']}")
    if collection.path == "sslCertificates":
        made.pop("privateKey", None)
    return made


# -- methods -----------------------------------------------------------------------------------------------------------


def _each(verb: str) -> tuple[str, ...]:
    return tuple(f"compute.{name}.{verb}" for name in COLLECTIONS)


@answers(*_each("insert"))
def insert(request: Request) -> JsonObject:
    """Makes a resource."""
    collection, cloud = _collection(request), request.cloud
    target = _target(request, collection, text(request.body, "name"), request.body)
    with cloud.state() as cloud_state:
        if target.id in cloud.resources or cloud_state.get(target.type, target.id) is not None:
            raise exists(target.id)
        if not target.name:
            raise ApiError(400, "Invalid value for field 'resource.name': ''.", "invalid")
        kind = KINDS[target.type]
        kind.create(cloud_state, target)
        if failure := request.failure:
            return begin(request, "insert", target.id, failure)
        _nats(cloud_state, target, request.body)
        cloud_state.put(target.type, target.id, _record(target))
    cloud.resources[target.id] = _stored(request, target, request.body)
    return begin(request, "insert", target.id)


def _record(target: TargetResource) -> JsonObject:
    """The object in the form of the rules, without a private key."""
    inputs = {key: value for key, value in target.inputs.items() if key != "privateKey"}
    computed: JsonObject = {"address": reserved_address(target)} if target.type == references.ADDRESS else {}
    return {"inputs": inputs, "computed": computed, "status": "RUNNING"}


def _existing(request: Request) -> tuple[str, JsonObject]:
    collection = _collection(request)
    key = _target(request, collection, request.at[collection.parameter], {}).id
    return key, request.cloud.found(key, not_found(key))


@answers(*_each("get"))
def get(request: Request) -> JsonObject:
    """Returns a resource."""
    return _existing(request)[1]


@answers(*_each("list"))
def list_(request: Request) -> JsonObject:
    """Lists the resources of a project, or of one of its regions."""
    collection = _collection(request)
    where = _target(request, collection, "", {}).id.rstrip("/")
    items = list[JsonValue](request.cloud.below(where).values())
    return request.page("items", items, kind=f"{collection.sort}List")


@answers(*(name for name in _each("patch") if name.split(".")[1] not in ("addresses", "regionSslCertificates")))
def patch(request: Request) -> JsonObject:
    """Changes the fields in the body. A stale fingerprint is rejected."""
    key, before = _existing(request)
    given = text(request.body, "fingerprint")
    if given and text(before, "fingerprint") and given != text(before, "fingerprint"):
        raise ApiError(412, "Invalid fingerprint.")
    return _changed(request, key, before, merge(before, request.body), "patch")


def _changed(request: Request, key: str, before: JsonObject, after: JsonObject, sort: str) -> JsonObject:
    collection, cloud = _collection(request), request.cloud
    if failure := request.failure:
        return begin(request, sort, key, failure)
    for name, value in request.body.items():  # a list is replaced as a whole, not member by member
        if isinstance(value, list):
            after[name] = value
    target = _target(request, collection, text(after, "name"), after)
    with cloud.state() as cloud_state:
        KINDS[target.type].update(cloud_state, target, _inputs(collection, before))
        _nats(cloud_state, target, after)
        cloud_state.put(target.type, key, _record(target))
    if "fingerprint" in after:
        after["fingerprint"] = cloud.etag()
    cloud.resources[key] = after
    return begin(request, sort, key)


@answers(*_each("delete"))
def delete(request: Request) -> JsonObject:
    """Removes a resource that nothing uses."""
    key, stored = _existing(request)
    collection, cloud = _collection(request), request.cloud
    target = _target(request, collection, text(stored, "name"), stored)
    with cloud.state() as cloud_state:
        KINDS[target.type].delete(cloud_state, target)
        if failure := request.failure:
            return begin(request, "delete", key, failure)
        cloud_state.drop(target.type, key)
    del cloud.resources[key]
    return begin(request, "delete", key)


@answers("compute.addresses.setLabels")
def set_labels(request: Request) -> JsonObject:
    """Replaces the labels of an address; nothing else of it can be changed."""
    collection = COLLECTIONS["addresses"]
    key = _target(request, collection, request.at["resource"], {}).id
    before = request.cloud.found(key, not_found(key))
    if text(request.body, "labelFingerprint") != text(before, "labelFingerprint"):
        raise ApiError(412, "Labels fingerprint either invalid or resource labels have changed", "conditionNotMet")
    after = {**before, "labels": dig(request.body, "labels"), "labelFingerprint": request.cloud.etag()}
    return _changed(request, key, before, after, "setLabels")


@answers("compute.subnetworks.expandIpCidrRange", "compute.subnetworks.setPrivateIpGoogleAccess")
def change_subnetwork(request: Request) -> JsonObject:
    """Widens the range of a subnetwork, or changes its access to Google's APIs."""
    key, before = _existing(request)
    return _changed(request, key, before, before | request.body, request.method.id.rpartition(".")[2])


# -- NAT gateways, which are parts of routers --------------------------------------------------------------------------


def _nats(cloud_state: CloudState, router: TargetResource, body: JsonObject) -> None:
    """The router's NAT gateways as resources of their own, each judged by its rules."""
    if router.type != references.ROUTER:
        return
    if cloud_state.get(references.ROUTER, router.id) is None:
        cloud_state.put(references.ROUTER, router.id, _record(router))
    project, region = router.project, router.scope["region"]
    prefix = f"{project}/{region}/{router.name}/"
    wanted = {f"{prefix}{text(nat, 'name')}": nat for nat in objects(body, "nats")}
    for ident in list(cloud_state.all(references.ROUTER_NAT)):
        if ident.startswith(prefix) and ident not in wanted:
            cloud_state.drop(references.ROUTER_NAT, ident)
    for ident, gateway in wanted.items():
        inputs: JsonObject = {
            **gateway,
            "router": router.name,
            "region": region,
            "sourceSubnetworkIpRangesToNat": gateway.get("sourceSubnetworkIpRangesToNat"),
        }
        target = TargetResource(references.ROUTER_NAT, ident, inputs, router.scope)
        KINDS[references.ROUTER_NAT].create(cloud_state, target)
        cloud_state.put(references.ROUTER_NAT, ident, {"inputs": inputs, "computed": {}, "status": "RUNNING"})
