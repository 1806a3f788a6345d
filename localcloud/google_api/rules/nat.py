"""Compute Engine: routers, and the NAT gateways that are part of them."""

from __future__ import annotations

from localcloud.google_api.core.errors import ApiError, not_found
from localcloud.google_api.rules.references import ROUTER, ROUTER_NAT, network_exists, network_id
from localcloud.google_api.rules.resource_type import CloudState, ResourceType, TargetResource, short
from localcloud.providers.protocol.values import JsonValue, text


def _nat_create(cloud_state: CloudState, target: TargetResource) -> None:
    project, region = target.project, target.scope["region"]
    router_id = f"projects/{project}/regions/{region}/routers/{short(target.text('router'))}"
    router = cloud_state.get(ROUTER, router_id)
    if router is None:
        raise not_found(router_id)
    network = network_id(text(router, "inputs", "network"), project)
    if not _all_ranges(target.inputs):
        return
    for ident, record in cloud_state.all(ROUTER_NAT).items():
        other_id = f"projects/{project}/regions/{region}/routers/{short(text(record, 'inputs', 'router'))}"
        other = cloud_state.get(ROUTER, other_id)
        taken = ident != target.id and ident.split("/")[1] == region and other is not None
        # https://cloud.google.com/nat/docs/nat-product-interactions: a range belongs to one gateway at most.
        if taken and network_id(text(other, "inputs", "network"), project) == network and _all_ranges(record["inputs"]):
            message = (
                f"Invalid value for field 'resource.nats': another NAT '{short(ident)}' of network '{short(network)}' "
                f"in region '{region}' already covers all subnetwork IP ranges"
            )
            raise ApiError(400, message, "invalid")


def _all_ranges(inputs: JsonValue) -> bool:
    return text(inputs, "sourceSubnetworkIpRangesToNat").startswith("ALL_SUBNETWORKS")


def _router_free(cloud_state: CloudState, target: TargetResource) -> None:
    """Deleting a router deletes its NAT gateways: they are part of the router (upstream patches the router)."""
    for ident, record in list(cloud_state.all(ROUTER_NAT).items()):
        project, region, *_ = ident.split("/")
        if f"projects/{project}/regions/{region}/routers/{short(text(record, 'inputs', 'router'))}" == target.id:
            cloud_state.drop(ROUTER_NAT, ident)


KINDS: dict[str, ResourceType] = {
    ROUTER: ResourceType("routers", create=network_exists, delete=_router_free),
    ROUTER_NAT: ResourceType(create=_nat_create),
}
