"""NetworkPolicies of a model's namespace: all traffic is denied except what is listed here.

Selectors use the labels that KServe sets. The data plane of GKE's load balancer is not in the cluster: its requests
come from the proxy-only subnet, its health checks from Google's ranges. Istio's is the Gateway's pods.
"""

from __future__ import annotations

from collections.abc import Mapping

from llmd_gke.catalog import front_door, kserve
from llmd_gke.gateways import gke, istio
from llmd_gke.gateways.gateway import GATEWAY_LABEL
from llmd_gke.json_types import Json, JsonObject, kubernetes_object
from llmd_gke.manifests import egress, naming
from llmd_gke.settings import FrontDoorSettings, GatewaySettings, ModelSettings, NetworkSettings

METADATA = "169.254.169.254/32"
"""The metadata server, by which pods get their Google identity (port 80 with Dataplane V2, 988 on 169.254.169.252
without: https://cloud.google.com/kubernetes-engine/docs/how-to/network-policy), and Cloud DNS for GKE's resolver."""

NODE_LOCAL_DNS = "169.254.20.10/32"

API_VERSION = "networking.k8s.io/v1"


def policy(name: str, namespace: str, spec: JsonObject) -> JsonObject:
    """A NetworkPolicy with that ``spec``. Without ``policyTypes`` it is for the directions that have rules."""
    types: list[Json] = [direction.capitalize() for direction in ("ingress", "egress") if direction in spec]
    return kubernetes_object(API_VERSION, "NetworkPolicy", name, namespace, spec={"policyTypes": types, **spec})


def ports(*numbers: int, protocol: str = "TCP") -> list[Json]:
    """Port entries of a rule."""
    return [{"protocol": protocol, "port": number} for number in numbers]


def blocks(*ranges: str) -> list[Json]:
    """Peers by IP range."""
    return [{"ipBlock": {"cidr": cidr}} for cidr in ranges]


def data_plane(network: NetworkSettings, gateway: GatewaySettings) -> list[Json]:
    """Peers: the sources of the Gateway's requests and health checks."""
    if gateway.proxies is not None:
        return [in_namespace(naming.GATEWAY_NAMESPACE, {GATEWAY_LABEL: naming.GATEWAY_NAME})]
    return blocks(network.proxies, *gke.HEALTH_CHECK_RANGES)


def in_namespace(name: str, labels: Mapping[str, str] | None = None) -> JsonObject:
    """Every pod of a namespace, or those with these labels, as a peer."""
    space: JsonObject = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}
    return space if labels is None else {**space, "podSelector": {"matchLabels": dict(labels)}}


def proxies() -> JsonObject:
    """The front door's Envoys, as a peer in other namespaces."""
    return in_namespace(front_door.PROXIES_NAMESPACE, front_door.PROXY_LABELS)


def default_deny(namespace: str) -> JsonObject:
    """Denies all traffic of the namespace in both directions, except queries to the cluster's DNS.

    Allowed are kube-dns and NodeLocal DNSCache by their pods, the cache and Cloud DNS for GKE by link-local address
    (https://cloud.google.com/kubernetes-engine/docs/how-to/nodelocal-dns-cache, …/how-to/cloud-dns).
    """
    # Dataplane V2 redirects traffic for kube-dns to the cache's pod on the node, and applies policies to that pod.
    servers = [in_namespace("kube-system", {"k8s-app": app}) for app in ("kube-dns", "node-local-dns")]
    dns: JsonObject = {
        "to": [*servers, *blocks(NODE_LOCAL_DNS, METADATA)],
        "ports": [*ports(53, protocol="UDP"), *ports(53)],
    }
    return policy("default-deny", namespace, {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], "egress": [dns]})


def identity_server() -> list[Json]:
    """Egress rules for pods that get a Google identity from the metadata server."""
    return [
        {"to": blocks("169.254.169.252/32"), "ports": ports(987, 988)},
        {"to": blocks(METADATA), "ports": ports(80)},
    ]


def group_policy(model: ModelSettings, outside: list[Json]) -> JsonObject:
    """Lets the pods of a model that spans hosts reach each other on every port.

    Ray and the TPU runtime choose their ports. ``outside``: egress rules for destinations outside the group.
    """
    group = naming.group_selector(model.name)
    peers: list[Json] = [{"podSelector": group}]
    spec: JsonObject = {"podSelector": group, "ingress": [{"from": peers}], "egress": [{"to": peers}, *outside]}
    return policy(f"{model.name}-group", model.namespace, spec)


def model_policies(
    model: ModelSettings,
    network: NetworkSettings,
    gateway: GatewaySettings,
    *,
    spans_hosts: bool = False,
    door: FrontDoorSettings | None = None,
) -> dict[str, JsonObject]:
    """Policies for one model: ingress and egress of its pods and its endpoint picker.

    ``network`` contains the proxy-only subnet's range and the permitted egress (:mod:`.egress`); ``spans_hosts``:
    whether the model runs on a slice of several hosts. Egress is for weights and, from the picker, the API server.
    Behind a front door (``door``) only its Envoys may send requests, unless old paths are kept.
    """
    requests: list[Json] = [] if door is None else [proxies()]
    if door is None or door.keep_paths:
        requests += data_plane(network, gateway)
    picker: JsonObject = {"podSelector": {"matchLabels": naming.picker_labels(model.name)}}
    workload: JsonObject = {"podSelector": {"matchLabels": naming.workload_labels(model.name)}}
    downloads = egress.downloads(network.egress)
    # Only pods that mount a bucket need a Google identity.
    outside = [*downloads, *(identity_server() if model.uses_buckets else [])]
    if gateway.mesh is not None:
        outside.append({"to": [in_namespace(istio.NAMESPACE)], "ports": ports(istio.XDS_PORT)})
    group = {"allow-group": group_policy(model, outside)} if spans_hosts else {}
    return {
        **group,
        "allow-workload": policy(
            f"{model.name}-workload",
            model.namespace,
            {
                **workload,
                "ingress": [{"from": [*requests, picker], "ports": ports(kserve.WORKLOAD_PORT)}],
                "egress": outside,
            },
        ),
        "allow-picker": policy(
            f"{model.name}-picker",
            model.namespace,
            {
                **picker,
                "ingress": [{"from": requests, "ports": ports(kserve.PICKER_PORT, kserve.PICKER_HEALTH_PORT)}],
                "egress": [
                    {"to": [workload], "ports": ports(kserve.WORKLOAD_PORT)},
                    *egress.control_plane(),
                    *downloads,
                ],
            },
        ),
    }
