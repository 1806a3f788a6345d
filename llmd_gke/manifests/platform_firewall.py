"""NetworkPolicies of the controllers' namespaces: the API server may call webhooks; controllers may call the API server
and resolve names.

How GKE's control plane reaches a webhook depends on the cluster: from a private address of the VPC, or through
``konnectivity-agent`` in ``kube-system``. Both are admitted, other pods are not. Probes come from the pod's own node,
which NetworkPolicies do not restrict (https://kubernetes.io/docs/concepts/services-networking/network-policies/).
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network

from llmd_gke.json_types import Json, JsonObject
from llmd_gke.manifests import charts, egress, firewall
from llmd_gke.settings import NetworkSettings

TUNNEL = firewall.in_namespace("kube-system", {"k8s-app": "konnectivity-agent"})


def policies(namespace: str, network: NetworkSettings, *, private_nodes: bool) -> dict[str, JsonObject]:
    """Denies all traffic of the namespace in both directions, except what its controllers need.

    With ``private_nodes`` the control plane has a private address; otherwise it may have a public one.
    """
    return {
        "default-deny": firewall.default_deny(namespace),
        "allow-control-plane": control_plane_policy(
            namespace, network, (charts.WEBHOOK_PORTS[namespace],), private_nodes=private_nodes
        ),
    }


def issuer_policy() -> JsonObject:
    """Lets cert-manager reach a certificate authority outside, and the name servers where it looks for its answer."""
    everywhere: JsonObject = {"cidr": "0.0.0.0/0", "except": list[Json](egress.NOT_OUTSIDE)}
    to: list[Json] = [{"ipBlock": everywhere}]
    ports = [*firewall.ports(443, 53), *firewall.ports(53, protocol="UDP")]
    spec: JsonObject = {"podSelector": {}, "egress": [{"to": to, "ports": ports}]}
    return firewall.policy("allow-issuer", "cert-manager", spec)


def control_plane_policy(
    namespace: str, network: NetworkSettings, ports: Sequence[int], *, private_nodes: bool
) -> JsonObject:
    """Admits the control plane to ``ports`` of every pod of the namespace, and the pods to the API server."""
    webhook: JsonObject = {"from": control_plane_sources(network), "ports": firewall.ports(*ports)}
    addresses = firewall.blocks(*(egress.PRIVATE_RANGES if private_nodes else ("0.0.0.0/0",)))
    api_server: JsonObject = {"to": addresses, "ports": firewall.ports(443)}
    allowed: JsonObject = {"podSelector": {}, "ingress": [webhook], "egress": [api_server]}
    return firewall.policy("allow-control-plane", namespace, allowed)


def control_plane_sources(network: NetworkSettings) -> list[Json]:
    """Peers of a NetworkPolicy for the control plane: its tunnel, or private ranges without the pods' range."""
    return [TUNNEL, *_private_ranges(network)]


def _private_ranges(network: NetworkSettings) -> list[Json]:
    pods = IPv4Network(network.pods) if network.existing is None else None
    blocks: list[Json] = []
    for cidr in egress.PRIVATE_RANGES:
        block: JsonObject = {"cidr": cidr}
        if pods is not None and pods.subnet_of(IPv4Network(cidr)):
            block["except"] = [str(pods)]
        blocks.append({"ipBlock": block})
    return blocks
