"""Compute Engine: networks, subnetworks, firewalls."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from localcloud.google_api.core.errors import ApiError, in_use
from localcloud.google_api.rules import lingering
from localcloud.google_api.rules.forwarding import proxies_free
from localcloud.google_api.rules.references import (
    ADDRESS,
    CLUSTER,
    FIREWALL,
    NETWORK,
    ROUTER,
    SUBNETWORK,
    network_exists,
    network_id,
    subnetwork_id,
)
from localcloud.google_api.rules.resource_type import CloudState, ResourceType, TargetResource, short
from localcloud.product import PROXY_SUBNET_PURPOSE, region_of
from localcloud.providers.protocol.values import JsonObject, JsonValue, objects, text

_PROXY = PROXY_SUBNET_PURPOSE


def _network_free(cloud_state: CloudState, target: TargetResource) -> None:
    """Compute Engine keeps a network while anything is in it: error ``resourceInUseByAnotherResource``."""
    for kind in (SUBNETWORK, ROUTER, FIREWALL, CLUSTER):
        for ident, record in cloud_state.all(kind).items():
            if network_id(text(record, "inputs", "network"), target.project) == target.id:
                raise in_use("network", target.id, ident)
    if (group := lingering.group_in(cloud_state, target.id)) is not None:
        raise in_use("network", target.id, group)


def _ranges(inputs: JsonValue) -> Iterator[str]:
    if text(inputs, "ipCidrRange"):
        yield text(inputs, "ipCidrRange")
    for secondary in objects(inputs, "secondaryIpRanges"):
        if text(secondary, "ipCidrRange"):
            yield text(secondary, "ipCidrRange")


_LONGEST_PREFIX = 29
"""Of primary and secondary ranges (https://cloud.google.com/vpc/docs/subnets#ipv4-ranges)."""


def _parsed(cidr: str) -> IPv4Network:
    try:
        parsed = IPv4Network(cidr)
    except ValueError as error:
        problem = f"It is not a range: {error}."
    else:
        if parsed.prefixlen <= _LONGEST_PREFIX:
            return parsed
        problem = "The range is too small."
    message = f"Invalid value for field 'resource.ipCidrRange': '{cidr}'. {problem}"
    raise ApiError(400, message, "invalid")


def _subnetwork_create(cloud_state: CloudState, target: TargetResource) -> None:
    network_exists(cloud_state, target)
    network, region = network_id(target.text("network"), target.project), target.scope["region"]
    own = [_parsed(cidr) for cidr in _ranges(target.inputs)]
    for index, cidr in enumerate(own):
        if any(cidr.overlaps(other) for other in own[:index]):
            raise ApiError(400, f"Invalid IPCidrRange: {cidr} overlaps with a range of the same subnetwork", "invalid")
    for ident, record in cloud_state.all(SUBNETWORK).items():
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
                    raise ApiError(400, message, "invalid")
        # https://cloud.google.com/load-balancing/docs/proxy-only-subnets: one active per region, network and purpose.
        if other_region == region and _active_proxy(target.inputs) and _active_proxy(other):
            message = (
                f"Invalid value for field 'resource.role': 'ACTIVE'. There is already an active {_PROXY} subnetwork "
                f"'{short(ident)}' in region '{region}' of network '{short(network)}'."
            )
            raise ApiError(400, message, "invalid")


def _active_proxy(inputs: JsonValue) -> bool:
    return text(inputs, "purpose") == _PROXY and text(inputs, "role") == "ACTIVE"


def _subnetwork_update(cloud_state: CloudState, target: TargetResource, old: JsonObject) -> None:
    _subnetwork_create(cloud_state, target)
    problem = ""
    before, after = (text(inputs, "ipCidrRange") for inputs in (old, target.inputs))
    if before != after and (text(old, "purpose") == _PROXY or _shrinks(before, after)):
        # https://cloud.google.com/load-balancing/docs/proxy-only-subnets: no expansion, a backup subnet takes over
        problem = f"'resource.ipCidrRange': '{after}'. The range {before} cannot be changed to it."
    # the texts of Compute Engine: terraform-provider-kubernetes#565, terraform-provider-google#2570
    kept, new = (_secondary(inputs) for inputs in (old, target.inputs))
    added, removed = ([there[name] for name in there.keys() - other] for there, other in ((new, kept), (kept, new)))
    for index, (name, cidr) in enumerate(new.items()):
        if kept.get(name, cidr) != cidr:
            problem = (
                f"'resource.secondaryIpRanges[{index}].ipCidrRange': '{cidr}'. Existing secondary range cannot be "
            )
            problem += f"modified: {cidr}."
    if added and removed:
        problem = "'resource.secondaryIpRanges': ''. Cannot add and remove secondary IP ranges in the same request. "
        problem += f"Added ranges: [{', '.join(added)}]. Removed ranges: [{', '.join(removed)}]."
    if problem:
        raise ApiError(400, f"Invalid value for field {problem}", "invalid")
    for ident, cluster in _clusters(cloud_state, target):
        for key in ("clusterSecondaryRangeName", "servicesSecondaryRangeName"):
            name = text(cluster, "inputs", "ipAllocationPolicy", key)
            if name in kept and name not in new:
                raise in_use("subnetwork", target.id, ident)


def _secondary(inputs: JsonValue) -> dict[str, str]:
    return {text(one, "rangeName"): text(one, "ipCidrRange") for one in objects(inputs, "secondaryIpRanges")}


def _clusters(cloud_state: CloudState, target: TargetResource) -> Iterator[tuple[str, JsonObject]]:
    """Clusters whose nodes are in that subnetwork."""
    for ident, record in cloud_state.all(CLUSTER).items():
        _, project, _, location, *_ = ident.split("/")
        reference = text(record, "inputs", "subnetwork")
        if reference and subnetwork_id(reference, project, region_of(location)) == target.id:
            yield ident, record


def _subnetwork_free(cloud_state: CloudState, target: TargetResource) -> None:
    for ident, _ in _clusters(cloud_state, target):
        raise in_use("subnetwork", target.id, ident)
    for ident, record in cloud_state.all(ADDRESS).items():
        _, project, _, region, *_ = ident.split("/")
        reference = text(record, "inputs", "subnetwork")
        if reference and subnetwork_id(reference, project, region) == target.id:
            raise in_use("subnetwork", target.id, ident)
    if _active_proxy(target.inputs):
        proxies_free(cloud_state, target)


def _shrinks(old: object, new: object) -> bool:
    """Upstream ``IsShrinkageIpCidr``: a range may grow in place, anything else is a new subnetwork."""
    try:
        return not IPv4Network(str(new)).supernet_of(IPv4Network(str(old)))
    except ValueError:
        return True


KINDS: dict[str, ResourceType] = {
    NETWORK: ResourceType("networks", delete=_network_free),
    SUBNETWORK: ResourceType(
        "subnetworks", create=_subnetwork_create, update=_subnetwork_update, delete=_subnetwork_free
    ),
    FIREWALL: ResourceType("firewalls", create=network_exists),
}
