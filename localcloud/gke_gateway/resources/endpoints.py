"""The addresses behind a backend, as GKE's network endpoint groups hold them: ready pods, each at its own address.

https://cloud.google.com/kubernetes-engine/docs/concepts/container-native-load-balancing
"""

from __future__ import annotations

from dataclasses import dataclass

from llmd_common.kubernetes.fields import (
    being_deleted,
    condition_is_true,
    each,
    get,
    labels,
    namespace,
    number,
    strings,
    text,
    texts,
)
from localcloud.gke_gateway.resources.objects import ENDPOINT_SLICE, POD, POOL, SERVICE, ClusterSnapshot, selects
from localcloud.providers.protocol.values import JsonObject

SERVICE_LABEL = "kubernetes.io/service-name"


@dataclass(frozen=True, order=True)
class PodEndpoint:
    """A pod's address and port."""

    address: str
    port: int


@dataclass(frozen=True)
class EndpointSource:
    """Where endpoints come from. ``kind``: Service (with one of its ports), InferencePool, or empty for no endpoints.

    ``health_port``: the port of the load balancer's health checks, ``None`` for the serving port. ``drain_seconds``:
    after which connections to an endpoint that is gone are cut; 0: not.
    """

    kind: str
    namespace: str = ""
    name: str = ""
    port: int = 0
    health_port: int | None = None
    drain_seconds: int = 0


def endpoints(source: EndpointSource, snapshot: ClusterSnapshot) -> list[PodEndpoint]:
    """The ready endpoints now, in a stable order."""
    if source.kind == SERVICE:
        resolved = _of_service(source, snapshot)
    elif source.kind == POOL:
        resolved = _of_pool(source, snapshot)
    else:
        resolved = set[PodEndpoint]()
    return sorted(resolved)


def _of_service(source: EndpointSource, snapshot: ClusterSnapshot) -> set[PodEndpoint]:
    service = snapshot.get(SERVICE, source.namespace, source.name)
    port = service_port(service, source.port) if service else None
    if port is None:
        return set()
    return {
        PodEndpoint(address, target)
        for slice_ in snapshot.kinds.get(ENDPOINT_SLICE, {}).values()
        if namespace(slice_) == source.namespace and labels(slice_).get(SERVICE_LABEL) == source.name
        for target in _slice_ports(slice_, text(port, "name"))
        for endpoint in each(slice_, "endpoints")
        # Not said means ready (discovery/v1 EndpointConditions).
        if get(endpoint, "conditions", "ready") is not False
        for address in texts(endpoint, "addresses")
    }


def service_port(service: JsonObject, port: int) -> JsonObject | None:
    """The entry of a Service's port number."""
    return next((entry for entry in each(service, "spec", "ports") if number(entry, "port") == port), None)


def _slice_ports(slice_: JsonObject, name: str) -> list[int]:
    ports = [number(entry, "port") for entry in each(slice_, "ports") if text(entry, "name") == name]
    return [port for port in ports if port is not None]


def _of_pool(source: EndpointSource, snapshot: ClusterSnapshot) -> set[PodEndpoint]:
    pool = snapshot.get(POOL, source.namespace, source.name)
    if pool is None:
        return set()
    selector = strings(get(pool, "spec", "selector", "matchLabels"))
    ports = [number(entry, "number") for entry in each(pool, "spec", "targetPorts")]
    return {
        PodEndpoint(text(pod, "status", "podIP"), port)
        for pod in snapshot.kinds.get(POD, {}).values()
        if namespace(pod) == source.namespace and selects(selector, labels(pod)) and _takes_requests(pod)
        for port in ports
        if port is not None
    }


def _takes_requests(pod: JsonObject) -> bool:
    return bool(text(pod, "status", "podIP")) and condition_is_true(pod, "Ready") and not being_deleted(pod)
