"""Resolves a ``backendRef``: a Service's port or an InferencePool, with protocol, health check, settings, picker."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from llmd_common.kubernetes.fields import Key, key, name, namespace, number, text
from localcloud.gke_gateway.resources.classes import GatewayClass
from localcloud.gke_gateway.resources.endpoints import EndpointSource, service_port
from localcloud.gke_gateway.resources.grants import granted
from localcloud.gke_gateway.resources.objects import (
    HEALTH_CHECK_POLICY,
    HTTP_ROUTE,
    POOL,
    SERVICE,
    ClusterSnapshot,
    full_name,
)
from localcloud.gke_gateway.resources.policies import (
    BackendSettings,
    CheckType,
    HealthCheck,
    Target,
    backend_settings,
    health_check,
    policy_for,
)
from localcloud.product import INFERENCE_POOL_GROUP
from localcloud.providers.protocol.values import JsonObject

Protocol: TypeAlias = Literal["HTTP", "HTTPS", "HTTP2", "H2C"]

PICKER_HEALTH = HealthCheck(type="GRPC", port=9003)
"""GKE checks an endpoint picker over gRPC at port 9003 unless a HealthCheckPolicy of its Service sets another check
(kubernetes-sigs/gateway-api-inference-extension#1402)."""


@dataclass(frozen=True)
class PoolPicker:
    """The endpoint picker of a pool. ``fail_open``: without it any ready endpoint takes the request."""

    cluster: str
    source: EndpointSource
    health: HealthCheck
    fail_open: bool


@dataclass(frozen=True)
class ResolvedBackend:
    """A backend that exists. ``cluster`` is its name in Envoy."""

    cluster: str
    target: Target
    source: EndpointSource
    protocol: Protocol
    health: HealthCheck
    settings: BackendSettings
    picker: PoolPicker | None = None


@dataclass(frozen=True)
class Reference:
    """A resolved ``backendRef``, or the ``problem`` (a reason of ResolvedRefs=False) that keeps it from resolving."""

    weight: int
    backend: ResolvedBackend | None
    problem: str = ""
    message: str = ""
    pool: Key | None = None
    """The InferencePool that is referred to, if it exists."""


def resolve(
    ref: JsonObject, route: JsonObject, gateway: JsonObject, gateway_class: GatewayClass, snapshot: ClusterSnapshot
) -> Reference:
    """Resolves a ``backendRef`` of a route of this Gateway."""
    weight = number(ref, "weight")
    weight = 1 if weight is None else weight
    kind, group = text(ref, "kind") or SERVICE, text(ref, "group")
    where, called = text(ref, "namespace") or namespace(route), text(ref, "name")
    if (kind, group) not in ((SERVICE, ""), (POOL, INFERENCE_POOL_GROUP)):
        # GKE knows no v1alpha2 pool of group inference.networking.x-k8s.io by this route either. No public source;
        # wording inferred.
        return _broken(weight, route, "InvalidKind", f'backend kind "{group}/{kind}" is not supported')
    if not granted(snapshot, (HTTP_ROUTE, namespace(route)), group, kind, (where, called)):
        return _broken(weight, route, "RefNotPermitted", f"no ReferenceGrant in {where} permits {kind} {called}")
    obj = snapshot.get(kind, where, called)
    if obj is None:
        # Recorded on GKE: `… is misconfigured, err: Error GWCER102: services crewai-dev/crewai-platform-web not found`.
        plural = "services" if kind == SERVICE else "inferencepools"
        return _broken(weight, route, "BackendNotFound", f"Error GWCER102: {plural} {where}/{called} not found")
    prefix = f"{namespace(gateway)}_{name(gateway)}"
    if kind == POOL:
        return _pool(weight, obj, prefix, route=route, gateway_class=gateway_class, snapshot=snapshot)
    return _service(weight, obj, number(ref, "port") or 0, prefix=prefix, route=route, snapshot=snapshot)


def _broken(weight: int, route: JsonObject, reason: str, error: str) -> Reference:
    # The frame as in kubernetes-sigs/gateway-api-inference-extension#1131: the route stays accepted.
    detail = f'Error GWCER104: HTTPRoute "{full_name(route)}" is misconfigured, err: {error}.'
    return Reference(weight, None, reason, f"error cause: reference-not-found: {detail}")


def _service(
    weight: int, service: JsonObject, port: int, *, prefix: str, route: JsonObject, snapshot: ClusterSnapshot
) -> Reference:
    entry = service_port(service, port)
    if entry is None:
        error = f"Service {full_name(service)} has no port {port}"
        return _broken(weight, route, "BackendNotFound", error)
    target = (SERVICE, namespace(service), name(service))
    protocol = _protocol(text(entry, "appProtocol"))
    health = health_check(snapshot, target, _asked_in(protocol))
    backend = ResolvedBackend(
        cluster=f"{prefix}_service_{namespace(service)}_{name(service)}_{port}",
        target=target,
        source=EndpointSource(SERVICE, namespace(service), name(service), port, health.port),
        protocol=protocol,
        health=health,
        settings=backend_settings(snapshot, target),
    )
    return Reference(weight, backend)


def _protocol(app_protocol: str) -> Protocol:
    """https://cloud.google.com/kubernetes-engine/docs/how-to/secure-gateway: the Service port's appProtocol decides."""
    match app_protocol.upper():
        case "HTTPS":
            return "HTTPS"
        case "HTTP2":
            return "HTTP2"
        case "KUBERNETES.IO/H2C":
            return "H2C"
        case _:
            return "HTTP"


def _asked_in(protocol: Protocol) -> CheckType:
    # kubernetes-sigs/gateway-api-inference-extension#2966: h2c servers are asked in HTTP/1.1.
    return "HTTP" if protocol == "H2C" else protocol


def _pool(
    weight: int,
    pool: JsonObject,
    prefix: str,
    *,
    route: JsonObject,
    gateway_class: GatewayClass,
    snapshot: ClusterSnapshot,
) -> Reference:
    target = (POOL, namespace(pool), name(pool))
    protocol = _protocol(text(pool, "spec", "appProtocol"))
    health = health_check(snapshot, target, _asked_in(protocol))
    picker = _picker(pool, prefix, snapshot)
    if picker is None:
        called = text(pool, "spec", "endpointPickerRef", "name")
        # Wording: kubernetes-sigs/gateway-api-inference-extension#1131.
        error = f"failed to validate inference pool extension ref: InferencePool extension service {called} not found"
        return replace(_broken(weight, route, "BackendNotFound", error), pool=key(pool))
    # Only the regional classes fill the endpoint groups of a pool: under every other one it is never healthy, and the
    # load balancer answers 503 (llm-d's gateway guide for GKE names the two that work).
    kind = POOL if gateway_class.pools else ""
    backend = ResolvedBackend(
        cluster=f"{prefix}_pool_{namespace(pool)}_{name(pool)}",
        target=target,
        source=EndpointSource(kind, namespace(pool), name(pool), 0, health.port),
        protocol=protocol,
        health=health,
        settings=backend_settings(snapshot, target),
        picker=picker if gateway_class.pools else None,
    )
    return Reference(weight, backend, pool=key(pool))


def _picker(pool: JsonObject, prefix: str, snapshot: ClusterSnapshot) -> PoolPicker | None:
    """The pool's picker; ``None`` where its Service is missing. Failure mode: FailClose unless it says FailOpen."""
    called = text(pool, "spec", "endpointPickerRef", "name")
    if snapshot.get(SERVICE, namespace(pool), called) is None:
        return None
    target = (SERVICE, namespace(pool), called)
    asked = policy_for(snapshot, HEALTH_CHECK_POLICY, target) is not None
    health = health_check(snapshot, target) if asked else PICKER_HEALTH
    return PoolPicker(
        cluster=f"{prefix}_picker_{namespace(pool)}_{called}",
        source=EndpointSource(
            SERVICE,
            namespace(pool),
            called,
            number(pool, "spec", "endpointPickerRef", "port", "number") or 9002,
            health.port,
        ),
        health=health,
        fail_open=text(pool, "spec", "endpointPickerRef", "failureMode") == "FailOpen",
    )
