"""Egress of model pods to destinations outside the cluster: port 443 anywhere, DNS names, or a proxy.

Sources: https://cloud.google.com/kubernetes-engine/docs/how-to/fqdn-network-policies (object and its limits); kserve
``workload_storage.go`` (``attachStorageInitializer``: fields of the container ``storage-initializer`` in a pod template
are merged into the one that KServe creates, in the model's pods and in the endpoint picker's).
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from llmd_gke.json_types import Json, JsonObject, kubernetes_object
from llmd_gke.manifests import naming
from llmd_gke.rules.adapters import DOWNLOADED
from llmd_gke.settings import EgressSettings, ModelSettings

FQDN_VERSION = "networking.gke.io/v1alpha1"

SOURCES: Mapping[str, tuple[str, ...]] = {
    "hf": (
        "huggingface.co",
        "*.huggingface.co",
        "*.hf.co",
        "*.xethub.hf.co",
        "*.xethub-eu.hf.co",
        "*.aws.cdn.hf.co",
        "*.gcp.cdn.hf.co",
        "*.us.gcp.cdn.hf.co",
    ),
    "s3": ("s3.amazonaws.com", "*.s3.amazonaws.com"),
    "gs": ("storage.googleapis.com",),
}
"""Where weights come from, by scheme: Hugging Face's site, its download hosts (``cdn-lfs….hf.co``, and those below
``cdn.hf.co``, which ``cdnDomains`` of https://huggingface.co/.well-known/meta.json lists; huggingface/hub-docs#2628),
its Xet storage (``cas-….xethub.hf.co``); S3's general endpoints; Cloud Storage. An asterisk stands for one label."""

PRIVATE_RANGES = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
"""Ranges that contain the control plane's private endpoint, whose address is not known before the cluster exists, and
everything else in the VPC and in networks that are connected to it."""

NOT_OUTSIDE = (*PRIVATE_RANGES, "169.254.0.0/16")
"""Ranges excluded from "every address": the VPC and its peers, and link-local ones (the metadata server's)."""

NEVER_PROXIED = ("localhost", "127.0.0.1", "169.254.169.254", "metadata.google.internal", ".svc", ".cluster.local")


def _https(*ranges: str) -> JsonObject:
    blocks: list[Json] = [{"ipBlock": {"cidr": cidr}} for cidr in ranges]
    return {"to": blocks, "ports": [{"protocol": "TCP", "port": 443}]}


def downloads(egress: EgressSettings) -> list[Json]:
    """Egress rules of a NetworkPolicy for downloads. In mode ``names``, only those for ``ranges``."""
    inside: list[Json] = [_https(*egress.ranges)] if egress.ranges else []
    if egress.mode == "open":
        outside: JsonObject = {"cidr": "0.0.0.0/0", "except": list[Json](NOT_OUTSIDE)}
        return [{"to": [{"ipBlock": outside}], "ports": [{"protocol": "TCP", "port": 443}]}, *inside]
    if egress.mode == "names" or egress.proxy is None:
        return inside
    proxy = urlsplit(egress.proxy)
    through: JsonObject = {
        "to": [{"ipBlock": {"cidr": f"{proxy.hostname}/32"}}],
        "ports": [{"protocol": "TCP", "port": proxy.port}],
    }
    return [through, *inside]


def control_plane() -> list[Json]:
    """Egress rules for pods that also call the API server."""
    return [_https(*PRIVATE_RANGES)]


def names(model: ModelSettings, egress: EgressSettings) -> list[str]:
    """Names that a model's pods may reach in mode ``names``: those of its sources, and those in the settings."""
    caches = [model.compile_cache] if model.compile_cache else []
    return _names(egress, model.weights_uri, *(adapter.uri for adapter in model.adapters), *caches)


def _names(egress: EgressSettings, *uris: str) -> list[str]:
    sources = [name for uri in uris for name in SOURCES.get(uri.split("://")[0], ())]
    return list(dict.fromkeys([*sources, *egress.names]))


def fqdn_policy(model: ModelSettings, egress: EgressSettings) -> JsonObject | None:
    """The FQDNNetworkPolicy of a model: its pods and its endpoint picker's, port 443 of those names."""
    allowed = names(model, egress) if egress.mode == "names" else []
    return _allow(f"{model.name}-downloads", model.namespace, naming.service_labels(model.name), allowed)


def copy_policy(model: ModelSettings, egress: EgressSettings) -> JsonObject | None:
    """The FQDNNetworkPolicy of the Job that copies a model's weights: port 443 of Hugging Face and Cloud Storage."""
    allowed = _names(egress, model.uri, model.weights_uri) if egress.mode == "names" else []
    return _allow(f"{model.name}-copy-downloads", model.namespace, naming.copy_labels(model.name), allowed)


def _allow(name: str, namespace: str, labels: JsonObject, allowed: list[str]) -> JsonObject | None:
    if not allowed:
        return None
    matches: list[Json] = [{"pattern" if "*" in one else "name": one} for one in allowed]
    spec: JsonObject = {
        "podSelector": {"matchLabels": labels},
        "egress": [{"matches": matches, "ports": [{"protocol": "TCP", "port": 443}]}],
    }
    return kubernetes_object(FQDN_VERSION, "FQDNNetworkPolicy", name, namespace, spec=spec)


def init_containers(model: ModelSettings, egress: EgressSettings) -> list[Json]:
    """The init container that downloads, with the proxy's variables; KServe adds the rest. Empty without a proxy."""
    if egress.mode != "proxy" or egress.proxy is None or not model.weights_uri.startswith(DOWNLOADED):
        return []
    environment: dict[str, str] = {
        "HTTP_PROXY": egress.proxy,
        "HTTPS_PROXY": egress.proxy,
        "NO_PROXY": ",".join((*NEVER_PROXIED, *egress.no_proxy)),
    }
    variables: list[Json] = [{"name": name, "value": value} for name, value in environment.items()]
    return [{"name": "storage-initializer", "env": variables}]
