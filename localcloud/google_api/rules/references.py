"""Compute Engine: types of resources, and how they refer to each other."""

from __future__ import annotations

import re
from collections.abc import Callable

from localcloud.google_api.rules import preexisting
from localcloud.google_api.rules.resource_type import CloudState, TargetResource, missing, short
from localcloud.providers.protocol.values import JsonObject

API = "compute.googleapis.com"
NETWORK = preexisting.NETWORK
SUBNETWORK = preexisting.SUBNETWORK
ROUTER = "gcp:compute/router:Router"
ROUTER_NAT = "gcp:compute/routerNat:RouterNat"
ADDRESS = "gcp:compute/address:Address"
FIREWALL = "gcp:compute/firewall:Firewall"
CLUSTER = "gcp:container/cluster:Cluster"
NODE_POOL = "gcp:container/nodePool:NodePool"


def link(target: TargetResource) -> str:
    """The URL (``selfLink``) of a resource."""
    return f"https://www.googleapis.com/compute/v1/{target.id}"


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


def network_exists(title: str, cloud_state: CloudState, target: TargetResource) -> str:
    """The id of the target's network. Raises :class:`ProviderRefusal` if it does not exist."""
    ident = network_id(target.text("network"), target.project)
    if cloud_state.get(NETWORK, ident) is None:
        raise missing(title, ident)
    return ident


def plain_outputs(target: TargetResource) -> JsonObject:
    """Outputs that every resource of Compute Engine has."""
    return {"selfLink": link(target), "creationTimestamp": "2026-01-01T00:00:00.000-08:00"}


def needs_network(title: str) -> Callable[[CloudState, TargetResource], None]:
    """A ``create`` that only requires the network to exist."""

    def create(cloud_state: CloudState, target: TargetResource) -> None:
        network_exists(title, cloud_state, target)

    return create
