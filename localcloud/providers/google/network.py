"""Compute Engine: networks, subnetworks, firewalls."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from localcloud.product import PROXY_SUBNET_PURPOSE
from localcloud.providers.google import lingering
from localcloud.providers.google.references import (
    ADDRESS,
    API,
    CLUSTER,
    FIREWALL,
    NETWORK,
    ROUTER,
    SUBNETWORK,
    link,
    needs_network,
    network_exists,
    network_id,
    plain_outputs,
    subnetwork_id,
)
from localcloud.providers.google.resource_type import (
    CloudState,
    ResourceType,
    TargetResource,
    digits,
    failed,
    in_use,
    short,
)
from localcloud.providers.protocol.rules import Failure
from localcloud.providers.protocol.values import JsonObject, JsonValue, objects, text

_PROXY = PROXY_SUBNET_PURPOSE


def _network_outputs(target: TargetResource) -> JsonObject:
    number = digits(target.id)
    return {"selfLink": link(target), "gatewayIpv4": "", "networkId": number, "numericId": number}


def _network_free(cloud_state: CloudState, target: TargetResource) -> None:
    """Compute Engine keeps a network while anything is in it: error ``resourceInUseByAnotherResource``."""
    for kind in (SUBNETWORK, ROUTER, FIREWALL, CLUSTER):
        for ident, record in cloud_state.all(kind).items():
            if network_id(text(record, "inputs", "network"), target.project) == target.id:
                raise in_use("Network", "network", target.id, ident)
    if (group := lingering.group_in(cloud_state, target.id)) is not None:
        raise in_use("Network", "network", target.id, group)


def _ranges(inputs: JsonValue) -> Iterator[str]:
    if text(inputs, "ipCidrRange"):
        yield text(inputs, "ipCidrRange")
    for secondary in objects(inputs, "secondaryIpRanges"):
        if text(secondary, "ipCidrRange"):
            yield text(secondary, "ipCidrRange")


_LONGEST_PREFIX = 29
"""https://cloud.google.com/vpc/docs/subnets#ipv4-ranges: four addresses of each primary range are Google's."""


def _subnetwork_create(cloud_state: CloudState, target: TargetResource) -> None:
    network = network_exists("Subnetwork", cloud_state, target)
    primary = target.text("ipCidrRange")
    if primary and IPv4Network(primary).prefixlen > _LONGEST_PREFIX:
        message = f"Invalid value for field 'resource.ipCidrRange': '{primary}'. The range is too small."
        raise failed("Error creating Subnetwork", 400, message, "invalid")
    region = target.scope["region"]
    own = [IPv4Network(cidr) for cidr in _ranges(target.inputs)]
    for index, cidr in enumerate(own):
        if any(cidr.overlaps(other) for other in own[:index]):
            raise failed(
                "Error creating Subnetwork",
                400,
                f"Invalid IPCidrRange: {cidr} overlaps with a range of the same subnetwork",
                "invalid",
            )
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


def _subnetwork_update(cloud_state: CloudState, target: TargetResource, old: JsonObject) -> None:
    del old
    _subnetwork_create(cloud_state, target)


def _subnetwork_free(cloud_state: CloudState, target: TargetResource) -> None:
    project, region = target.project, target.scope["region"]
    for kind in (CLUSTER, ADDRESS):
        for ident, record in cloud_state.all(kind).items():
            reference = text(record, "inputs", "subnetwork")
            if reference and f"/{region}" in ident and subnetwork_id(reference, project, region) == target.id:
                raise in_use("Subnetwork", "subnetwork", target.id, ident)


def _subnetwork_outputs(target: TargetResource) -> JsonObject:
    cidr = target.text("ipCidrRange")
    return {
        "selfLink": link(target),
        "gatewayAddress": str(IPv4Network(cidr).network_address + 1) if cidr else "",
        "creationTimestamp": "2026-01-01T00:00:00.000-08:00",
        "fingerprint": digits(target.id, 12),
        "subnetworkId": int(digits(target.id, 9)),
        "stackType": "IPV4_ONLY",
        "purpose": "PRIVATE",
        "privateIpGoogleAccess": False,
    }


def _subnetwork_check(target: TargetResource) -> Iterator[Failure]:
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


KINDS: dict[str, ResourceType] = {
    NETWORK: ResourceType(
        id="projects/{project}/global/networks/{name}",
        title="Network",
        source="compute/resource_compute_network.go",
        api=API,
        computed=_network_outputs,
        delete=_network_free,
    ),
    SUBNETWORK: ResourceType(
        id="projects/{project}/regions/{region}/subnetworks/{name}",
        title="Subnetwork",
        source="compute/resource_compute_subnetwork.go",
        api=API,
        # purpose and role are not ForceNew upstream; the API refuses a change of purpose.
        force_new_if={"ipCidrRange": _shrinks},
        computed=_subnetwork_outputs,
        check=_subnetwork_check,
        create=_subnetwork_create,
        update=_subnetwork_update,
        delete=_subnetwork_free,
    ),
    FIREWALL: ResourceType(
        id="projects/{project}/global/firewalls/{name}",
        title="Firewall",
        source="compute/resource_compute_firewall.go",
        api=API,
        computed=plain_outputs,
        create=needs_network("Firewall"),
    ),
}
