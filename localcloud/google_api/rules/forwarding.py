"""Forwarding rules: how the load balancers of GKE's Gateways hold an address and a proxy-only subnet.

GKE's controller creates them for the Gateways in the Kubernetes stand-in's file. A laptop cloud has its Gateways in a
real API server, which nobody asks here: its addresses and subnets count as free.
"""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.google_api.core.errors import in_use
from localcloud.google_api.rules.references import CLUSTER, network_id
from localcloud.google_api.rules.resource_type import CloudState, TargetResource, digits
from localcloud.product import REGIONAL_EXTERNAL, REGIONAL_INTERNAL, region_of
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.providers.protocol.values import JsonObject, objects, table, text

GATEWAY = "gateway.networking.k8s.io/v1/Gateway"


def _rules(cloud_state: CloudState) -> Iterator[tuple[str, JsonObject, str]]:
    """Id of each forwarding rule, ``spec`` of its Gateway, id of its network."""
    if cloud_state.folder is None:
        return
    clusters = table(CloudFile(cloud_state.folder / "kubernetes.json").read(), "clusters")
    for cluster, record in cloud_state.all(CLUSTER).items():
        _, project, _, location, *_ = cluster.split("/")
        for name, gateway in table(clusters, cluster, GATEWAY).items():
            spec = table(gateway, "inputs", "spec")
            if text(spec, "gatewayClassName") in (REGIONAL_EXTERNAL, REGIONAL_INTERNAL):
                own = f"gkegw1-{digits(cluster, 4)}-{name.replace('/', '-')}"
                ident = f"projects/{project}/regions/{region_of(location)}/forwardingRules/{own}"
                yield ident, spec, network_id(text(record, "inputs", "network"), project)


def address_free(cloud_state: CloudState, target: TargetResource) -> None:
    """Rejects the deletion of an address that a Gateway names."""
    for rule, spec, _ in _rules(cloud_state):
        named = [text(entry, "value") for entry in objects(spec, "addresses") if text(entry, "type") == "NamedAddress"]
        if target.name in named and rule.startswith(f"{target.id.rpartition('/addresses/')[0]}/"):
            raise in_use("address", target.id, rule)


def proxies_free(cloud_state: CloudState, target: TargetResource) -> None:
    """Rejects the deletion of the active proxy-only subnet of a region and network with a regional Gateway."""
    network = network_id(target.text("network"), target.project)
    for rule, _, used in _rules(cloud_state):
        if used == network and rule.split("/")[3] == target.scope["region"]:
            raise in_use("subnetwork", target.id, rule)
