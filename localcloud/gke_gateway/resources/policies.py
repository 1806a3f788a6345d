"""GKE's policies for a backend: the health check and the backend's settings that they ask for, or GKE's defaults.

Defaults and fields: GoogleCloudPlatform/gke-gateway-api ``config/crd/networking.gke.io_healthcheckpolicies.yaml`` and
``…_gcpbackendpolicies.yaml`` @fc40d606, https://cloud.google.com/kubernetes-engine/docs/how-to/configure-gateway-resources.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from llmd_common.kubernetes.fields import namespace, number, part, text
from localcloud.gke_gateway.resources.objects import (
    BACKEND_POLICY,
    GATEWAY,
    GATEWAY_GROUP,
    GATEWAY_POLICY,
    HEALTH_CHECK_POLICY,
    POOL,
    SERVICE,
    ClusterSnapshot,
)
from localcloud.product import DEFAULT_BACKEND_TIMEOUT_SECONDS, INFERENCE_POOL_GROUP
from localcloud.providers.protocol.values import JsonObject

CheckType: TypeAlias = Literal["TCP", "HTTP", "HTTPS", "HTTP2", "GRPC"]
Target: TypeAlias = tuple[str, str, str]
"""Kind, namespace and name of what a policy is attached to."""

GROUPS = {SERVICE: "", POOL: INFERENCE_POOL_GROUP, GATEWAY: GATEWAY_GROUP}
TARGETS = {
    HEALTH_CHECK_POLICY: (SERVICE, POOL),
    BACKEND_POLICY: (SERVICE, POOL),
    GATEWAY_POLICY: (GATEWAY,),
}
"""Kinds of targets to which each kind of policy can be attached."""

_BLOCKS: dict[CheckType, str] = {
    "TCP": "tcpHealthCheck",
    "HTTP": "httpHealthCheck",
    "HTTPS": "httpsHealthCheck",
    "HTTP2": "http2HealthCheck",
    "GRPC": "grpcHealthCheck",
}


@dataclass(frozen=True)
class HealthCheck:
    """The load balancer's health check of a backend. Times in seconds; ``port`` ``None`` is the serving port."""

    type: CheckType = "HTTP"
    path: str = "/"
    host: str = ""
    port: int | None = None
    interval_seconds: int = 5
    timeout_seconds: int = 5
    healthy: int = 2
    unhealthy: int = 2
    grpc_service: str = ""
    response: str = ""


@dataclass(frozen=True)
class BackendSettings:
    """Settings of a GCPBackendPolicy. ``timeout_seconds``: for a whole response; ``drain_seconds``: for draining."""

    timeout_seconds: int = DEFAULT_BACKEND_TIMEOUT_SECONDS
    drain_seconds: int = 0


def target(policy: JsonObject) -> Target | None:
    """The target of the policy; ``None`` if the policy cannot be attached to that kind.

    A policy only applies to its own namespace, whatever its ``targetRef`` names.
    """
    kind = text(policy, "spec", "targetRef", "kind")
    where = text(policy, "spec", "targetRef", "namespace") or namespace(policy)
    fits = kind in TARGETS.get(text(policy, "kind"), ()) and text(policy, "spec", "targetRef", "group") == GROUPS[kind]
    if not fits or where != namespace(policy):
        return None
    return kind, where, text(policy, "spec", "targetRef", "name")


def policy_for(snapshot: ClusterSnapshot, kind: str, wanted: Target) -> JsonObject | None:
    """The policy of that kind for a target: the oldest wins."""
    return next((policy for policy in snapshot.all(kind) if target(policy) == wanted), None)


def health_check(snapshot: ClusterSnapshot, wanted: Target, protocol: CheckType = "HTTP") -> HealthCheck:
    """The health check of a backend. Without a policy GKE asks ``/`` at the serving port, in the backend's protocol.

    HTTP/2 without TLS is asked in HTTP/1.1 (kubernetes-sigs/gateway-api-inference-extension#2966).
    """
    policy = policy_for(snapshot, HEALTH_CHECK_POLICY, wanted)
    if policy is None:
        return HealthCheck(type=protocol)
    default = part(policy, "spec", "default")
    kind = _check_type(text(default, "config", "type")) or "HTTP"
    block = part(default, "config", _BLOCKS[kind])
    serving = text(block, "portSpecification") == "USE_SERVING_PORT"
    return HealthCheck(
        type=kind,
        path=text(block, "requestPath") or "/",
        host=text(block, "host"),
        port=None if serving else number(block, "port"),
        interval_seconds=number(default, "checkIntervalSec") or 5,
        timeout_seconds=number(default, "timeoutSec") or 5,
        healthy=number(default, "healthyThreshold") or 2,
        unhealthy=number(default, "unhealthyThreshold") or 2,
        grpc_service=text(block, "grpcServiceName"),
        response=text(block, "response"),
    )


def _check_type(value: str) -> CheckType | None:
    return next((kind for kind in _BLOCKS if kind == value), None)


def backend_settings(snapshot: ClusterSnapshot, wanted: Target) -> BackendSettings:
    """The settings of a backend: 30 s for an answer, unless a policy says otherwise."""
    policy = policy_for(snapshot, BACKEND_POLICY, wanted)
    default = part(policy, "spec", "default")
    return BackendSettings(
        timeout_seconds=number(default, "timeoutSec") or DEFAULT_BACKEND_TIMEOUT_SECONDS,
        drain_seconds=number(default, "connectionDraining", "drainingTimeoutSec") or 0,
    )
