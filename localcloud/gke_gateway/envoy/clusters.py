"""Backends and pickers as Envoy clusters, and their endpoints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from localcloud.gke_gateway.envoy.common import extension, from_file, seconds, typed
from localcloud.gke_gateway.resources.backends import PoolPicker, Protocol, ResolvedBackend
from localcloud.gke_gateway.resources.endpoints import PodEndpoint
from localcloud.gke_gateway.resources.policies import HealthCheck
from localcloud.providers.protocol.values import JsonObject, JsonValue

CONNECT_SECONDS = 5
PICKER_AWAY_SECONDS = 10
"""Seconds for which a picker that does not answer gets no requests, unless it passes a health check before."""

LIMIT = 100_000
"""Concurrent connections, requests and retries. Google's load balancers have no such limits; Envoy's are 1024 and 3."""

_HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
_POLICIES = "envoy.extensions.load_balancing_policies"


def backend_cluster(backend: ResolvedBackend, folder: Path) -> JsonObject:
    """A backend. Endpoints come from a file of their own in ``folder``, so that they change without the cluster."""
    return {
        **_cluster(backend.cluster, folder, backend.protocol, backend.health),
        "load_balancing_policy": _balancing("least_request.v3.LeastRequest"),
    }


def picker_cluster(picker: PoolPicker, folder: Path) -> JsonObject:
    """An endpoint picker: HTTP/2 over TLS, its certificate not verified.

    GKE does not verify a picker's certificate (kubernetes-sigs/gateway-api-inference-extension#582).
    """
    return {
        **_cluster(picker.cluster, folder, "HTTP2", picker.health),
        "load_balancing_policy": _balancing("round_robin.v3.RoundRobin"),
        # Envoy can only do without a picker while it holds the whole request. Where nobody listens any more, it learns
        # that too late for the requests under way, so the first that fails spares all others the attempt.
        "outlier_detection": {
            "split_external_local_origin_errors": True,
            "consecutive_local_origin_failure": 1,
            "interval": seconds(1),
            "base_ejection_time": seconds(PICKER_AWAY_SECONDS),
            "max_ejection_percent": 100,
            "always_eject_one_host": True,
        },
    }


def nowhere(name: str) -> JsonObject:
    """A cluster without endpoints."""
    return {"name": name, "type": "STATIC", "connect_timeout": seconds(1), **_http2("H2C")}


def load_assignment(cluster: str, endpoints: Sequence[PodEndpoint], health_port: int | None) -> JsonObject:
    """The endpoints of a cluster."""
    return {
        **typed("envoy.config.endpoint.v3.ClusterLoadAssignment"),
        "cluster_name": cluster,
        "endpoints": [{"lb_endpoints": [_endpoint(endpoint, health_port) for endpoint in endpoints]}],
    }


def _endpoint(endpoint: PodEndpoint, health_port: int | None) -> JsonValue:
    address: JsonObject = {"socket_address": {"address": endpoint.address, "port_value": endpoint.port}}
    health: JsonObject = {} if health_port is None else {"port_value": health_port}
    return {"endpoint": {"address": address, "health_check_config": health}}


def _balancing(policy: str) -> JsonObject:
    name = policy.split(".", maxsplit=1)[0]
    return {"policies": [{"typed_extension_config": extension(f"{_POLICIES}.{name}", f"{_POLICIES}.{policy}")}]}


def _cluster(name: str, folder: Path, protocol: Protocol, health: HealthCheck) -> JsonObject:
    threshold: JsonObject = dict.fromkeys(
        ("max_connections", "max_pending_requests", "max_requests", "max_retries"), LIMIT
    )
    encrypted = protocol in ("HTTPS", "HTTP2")
    return {
        **typed("envoy.config.cluster.v3.Cluster"),
        "name": name,
        "type": "EDS",
        "eds_cluster_config": {"service_name": name, "eds_config": from_file(folder / f"{name}.json")},
        "connect_timeout": seconds(CONNECT_SECONDS),
        # No panic: with every endpoint unhealthy Google's load balancers answer 503 "no healthy upstream".
        "common_lb_config": {"healthy_panic_threshold": {"value": 0}},
        "ignore_health_on_host_removal": True,
        "circuit_breakers": {"thresholds": [threshold]},
        "health_checks": [_health_check(health)],
        "transport_socket_matches": _sockets(encrypted=encrypted, h2=protocol == "HTTP2"),
        **_http2(protocol),
    }


def _http2(protocol: Protocol) -> JsonObject:
    version = "http2_protocol_options" if protocol in ("HTTP2", "H2C") else "http_protocol_options"
    options = typed(_HTTP_OPTIONS, explicit_http_config={version: {}})
    return {"typed_extension_protocol_options": {_HTTP_OPTIONS: options}}


def _sockets(*, encrypted: bool, h2: bool) -> list[JsonValue]:
    """Transport sockets for requests and for health checks, of which each may use TLS or not, as at Google."""
    plain: JsonObject = {
        "name": "plain",
        "match": {"socket": "plain"},
        "transport_socket": extension(
            "envoy.transport_sockets.raw_buffer", "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer"
        ),
    }
    tls: JsonObject = {
        "name": "tls",
        "match": {"socket": "tls"},
        "transport_socket": extension(
            "envoy.transport_sockets.tls",
            "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
            common_tls_context={
                # https://cloud.google.com/load-balancing/docs/ssl-certificates/encryption-to-the-backends: the load
                # balancer does not verify the certificate of a backend.
                "validation_context": {"trust_chain_verification": "ACCEPT_UNTRUSTED"},
                "alpn_protocols": ["h2"] if h2 else ["http/1.1"],
            },
        ),
    }
    # The first whose (here: empty) match fits is for requests.
    first, other = (tls, plain) if encrypted else (plain, tls)
    return [other, {**first, "name": "requests", "match": {}}]


def _health_check(health: HealthCheck) -> JsonObject:
    check: JsonObject = {
        "timeout": seconds(health.timeout_seconds),
        "interval": seconds(health.interval_seconds),
        # Also without traffic, where Envoy alone would ask once a minute.
        "no_traffic_interval": seconds(health.interval_seconds),
        "healthy_threshold": health.healthy,
        "unhealthy_threshold": health.unhealthy,
        "always_log_health_check_failures": True,
    }
    if health.type == "TCP":
        check["tcp_health_check"] = {}
        return {**check, "transport_socket_match_criteria": {"socket": "plain"}}
    if health.type == "GRPC":
        check["grpc_health_check"] = {"service_name": health.grpc_service} if health.grpc_service else {}
        return {**check, "transport_socket_match_criteria": {"socket": "plain"}}
    http: JsonObject = {"path": health.path, "host": health.host or "health-check"}
    if health.type == "HTTP2":
        http["codec_client_type"] = "HTTP2"
    if health.response:
        http["receive"] = [{"text": health.response.encode().hex()}]
    if health.type == "HTTPS":
        check["tls_options"] = {"alpn_protocols": ["http/1.1"]}
    check["http_health_check"] = http
    return {**check, "transport_socket_match_criteria": {"socket": "plain" if health.type == "HTTP" else "tls"}}
