"""Compute Engine: types of resources, and how they refer to each other."""

from __future__ import annotations

import re

from localcloud.google_api.core.errors import not_found
from localcloud.google_api.rules import preexisting
from localcloud.google_api.rules.resource_type import CloudState, TargetResource, short

NETWORK = preexisting.NETWORK
SUBNETWORK = preexisting.SUBNETWORK
ROUTER = "gcp:compute/router:Router"
ROUTER_NAT = "gcp:compute/routerNat:RouterNat"
ADDRESS = "gcp:compute/address:Address"
FIREWALL = "gcp:compute/firewall:Firewall"
CLUSTER = "gcp:container/cluster:Cluster"
NODE_POOL = "gcp:container/nodePool:NodePool"


def _owner(reference: str, project: str) -> str:
    """The project in a reference, else the one given."""
    match = re.search(r"(?:^|/)projects/([^/]+)/", reference)
    return match[1] if match else project


def network_id(reference: str, project: str) -> str:
    """The id of a network that is referred to by name, id or URL; the last two may be of another project."""
    return f"projects/{_owner(reference, project)}/global/networks/{short(reference)}"


def subnetwork_id(reference: str, project: str, region: str) -> str:
    """The id of a subnetwork that is referred to by name, id or URL; the last two may be of another project."""
    return f"projects/{_owner(reference, project)}/regions/{region}/subnetworks/{short(reference)}"


def network_exists(cloud_state: CloudState, target: TargetResource) -> None:
    """Raises :class:`ApiError` if the target's network does not exist."""
    ident = network_id(target.text("network"), target.project)
    if cloud_state.get(NETWORK, ident) is None:
        raise not_found(ident)
