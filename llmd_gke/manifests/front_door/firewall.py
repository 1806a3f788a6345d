"""NetworkPolicies of the front door: clients reach the Envoys, the Envoys reach models, and nothing else does."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import AddressValueError, IPv4Address

from llmd_gke.catalog import front_door, kserve
from llmd_gke.json_types import Json, JsonObject
from llmd_gke.manifests import egress, firewall
from llmd_gke.manifests.firewall import blocks, in_namespace, ports
from llmd_gke.manifests.platform_firewall import control_plane_sources
from llmd_gke.settings import FrontDoorSettings, GatewaySettings, NetworkSettings

PROXIES = "allow-clients"
"""The policy of the Envoys' ingress and egress."""
ALWAYS = frozenset({"proxies-default-deny", PROXIES, "allow-gateway"})
"""Policies that stay without ``platform.networkPolicies``: Redis and the limiter ask nobody for a password. No webhook
behind them is called from the control plane's addresses."""


def policies(
    door: FrontDoorSettings,
    network: NetworkSettings,
    gateway: GatewaySettings,
    namespaces: Sequence[str],
    *,
    private_nodes: bool,
) -> dict[str, JsonObject]:
    """By the last part of their resources' names. ``namespaces`` are those of the models."""
    proxies_space, ai_space = front_door.PROXIES_NAMESPACE, front_door.AI_NAMESPACE
    api_server = _api_server(private_nodes)
    inside: JsonObject = {"podSelector": {}}
    proxies: JsonObject = {"podSelector": {"matchLabels": dict(front_door.PROXY_LABELS)}}
    models: list[Json] = [in_namespace(name) for name in sorted(namespaces)]
    outside: list[Json] = []
    if not door.uses_keys:
        # To fetch the issuer's public keys.
        everywhere: JsonObject = {"cidr": "0.0.0.0/0", "except": list[Json](egress.NOT_OUTSIDE)}
        outside.append({"to": [{"ipBlock": everywhere}], "ports": ports(443)})
    return {
        "proxies-default-deny": firewall.default_deny(proxies_space),
        "ai-default-deny": firewall.default_deny(ai_space),
        PROXIES: firewall.policy(
            "front-door",
            proxies_space,
            {
                **proxies,
                "policyTypes": ["Ingress", "Egress"],
                "ingress": [
                    {
                        "from": firewall.data_plane(network, gateway),
                        "ports": ports(front_door.CONTAINER_PORT, front_door.READY_PORT),
                    }
                ],
                "egress": [
                    {"to": [inside], "ports": ports(front_door.XDS_PORT, front_door.LIMITER_PORT)},
                    {"to": models, "ports": ports(kserve.WORKLOAD_PORT, kserve.PICKER_PORT)},
                    *outside,
                ],
            },
        ),
        "allow-gateway": firewall.policy(
            "controllers",
            proxies_space,
            {
                # Envoy Gateway, the Job that creates its certificates, the rate limiter, Redis.
                "podSelector": {"matchExpressions": [_not_a_proxy()]},
                "policyTypes": ["Ingress", "Egress"],
                "ingress": [{"from": [inside]}],
                "egress": [
                    api_server,
                    {"to": [inside]},
                    {"to": [in_namespace(ai_space)], "ports": ports(front_door.AI_GRPC_PORT)},
                    *_redis(door),
                ],
            },
        ),
        "allow-ai": firewall.policy(
            "controllers",
            ai_space,
            {
                "podSelector": {},
                "policyTypes": ["Ingress", "Egress"],
                "ingress": [
                    {"from": [in_namespace(proxies_space)], "ports": ports(front_door.AI_GRPC_PORT)},
                    {"from": control_plane_sources(network), "ports": ports(front_door.AI_WEBHOOK_PORT)},
                ],
                "egress": [api_server],
            },
        ),
    }


def _redis(door: FrontDoorSettings) -> list[Json]:
    """Egress rules from the limiter to an existing Redis: to its IP address, or, for a DNS name, to any address of the
    VPC.
    """
    host, _, port = door.redis.rpartition(":")
    if not host:
        return []
    try:
        where = blocks(f"{IPv4Address(host)}/32")
    except AddressValueError:
        where = blocks(*egress.PRIVATE_RANGES)
    return [{"to": where, "ports": ports(int(port))}]


def _not_a_proxy() -> JsonObject:
    return {"key": "app.kubernetes.io/component", "operator": "NotIn", "values": ["proxy"]}


def _api_server(private_nodes: bool) -> JsonObject:
    return {"to": blocks(*egress.PRIVATE_RANGES) if private_nodes else blocks("0.0.0.0/0"), "ports": ports(443)}
