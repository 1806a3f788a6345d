"""Fields and targets of the policies of GKE's Gateway.

Source: GoogleCloudPlatform/gke-gateway-api ``config/crd`` @fc40d606; ``tests/schema`` compares the fields with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from llmd_gke.gateways import gke
from llmd_gke.gateways.gateway import INFERENCE_POOL_GROUP

Fields: TypeAlias = "Mapping[str, Fields]"
"""Names of fields, each with those inside it; empty for a plain value. Of a list: those of its items."""


def _plain(*names: str) -> Fields:
    return {name: {} for name in names}


_PORT = ("port", "portName", "portSpecification")
_HTTP = _plain(*_PORT, "host", "proxyHeader", "requestPath", "response")
_TARGET = _plain("group", "kind", "name", "namespace")


def _extension(*more: str) -> Fields:
    callout = (
        *("authority", "backendRef", "failOpen", "forwardHeaders", "googleAPIServiceName", "metadata", "name"),
        *("requestBodySendMode", "responseBodySendMode", "supportedEvents", "timeout"),
    )
    chains: Fields = {"extensions": _plain(*callout, *more), "matchCondition": _plain("celExpressions"), "name": {}}
    return {"extensionChains": chains, "targetRefs": _plain("group", "kind", "name")}


FIELDS: Mapping[str, Fields] = {
    gke.HEALTH_CHECK.kind: {
        "targetRef": _TARGET,
        "default": {
            **_plain("checkIntervalSec", "healthyThreshold", "timeoutSec", "unhealthyThreshold"),
            "logConfig": _plain("enabled"),
            "config": {
                "type": {},
                "grpcHealthCheck": _plain(*_PORT, "grpcServiceName"),
                "http2HealthCheck": _HTTP,
                "httpHealthCheck": _HTTP,
                "httpsHealthCheck": _HTTP,
                "tcpHealthCheck": _plain(*_PORT, "proxyHeader", "request", "response"),
            },
        },
    },
    gke.BACKEND_POLICY.kind: {
        "targetRef": _TARGET,
        "default": {
            **_plain("backendPreference", "maxRatePerEndpoint", "securityPolicy", "timeoutSec"),
            "connectionDraining": _plain("drainingTimeoutSec"),
            "iap": {**_plain("clientID", "enabled"), "oauth2ClientSecret": _plain("name")},
            "logging": _plain("enabled", "sampleRate"),
            "sessionAffinity": _plain("cookieTtlSec", "type"),
        },
    },
    gke.GATEWAY_POLICY.kind: {"targetRef": _TARGET, "default": _plain("allowGlobalAccess", "region", "sslPolicy")},
    gke.SESSION_POLICY.kind: {"targetRef": _TARGET, "statefulGeneratedCookie": _plain("cookieTtlSeconds")},
    gke.TRAFFIC_POLICY.kind: {
        "targetRefs": _plain("group", "kind", "name"),
        "default": {
            **_plain("localityLbAlgorithm", "serviceLbAlgorithm"),
            "autoCapacityDrain": _plain("enableAutoCapacityDrain"),
            "failoverConfig": _plain("failoverHealthThreshold"),
        },
    },
    "GCPAuthzPolicy": {
        **_plain("action", "enforcementLevel"),
        "customProviders": {"extensionRefs": _plain("group", "kind", "name")},
        "rules": {
            "from": dict.fromkeys(("notSources", "sources"), _plain("principals", "resources")),
            "to": dict.fromkeys(("notOperations", "operations"), _plain("headers", "hosts", "methods", "paths")),
            "when": {},
        },
        "targetRefs": _plain("group", "kind", "name", "selector"),
    },
    "GCPClientTLSPolicy": {
        **_plain("subjectAltNames", "tlsMode"),
        "targetRefs": _plain("group", "kind", "name", "sectionName"),
    },
    "GCPRoutingExtension": _extension(),
    "GCPServerTLSPolicy": {
        "mtlsMode": {},
        "portOverrides": _plain("mtlsMode", "port"),
        "targetRefs": _plain("group", "kind", "selector"),
    },
    "GCPSessionAffinityFilter": {"statefulGeneratedCookie": _plain("cookieTtlSeconds")},
    "GCPTrafficExtension": _extension("observabilityMode"),
}

VALUES: Mapping[str, tuple[str, ...]] = {
    "spec.action": ("ALLOW", "CUSTOM", "DENY", "DENY_BY_DEFAULT"),
    "spec.enforcementLevel": ("L4", "L7"),
    "spec.mtlsMode": ("Disabled", "Permissive", "Strict"),
    "spec.tlsMode": ("Disable", "MutualTLS"),
    "spec.default.backendPreference": ("DEFAULT", "PREFERRED"),
    "spec.default.sessionAffinity.type": (
        "CLIENT_IP",
        "CLIENT_IP_PORT_PROTO",
        "CLIENT_IP_PROTO",
        "GENERATED_COOKIE",
        "HEADER_FIELD",
        "HTTP_COOKIE",
        "NONE",
    ),
    "spec.default.localityLbAlgorithm": (
        "LEAST_REQUEST",
        "MAGLEV",
        "ORIGINAL_DESTINATION",
        "RANDOM",
        "RING_HASH",
        "ROUND_ROBIN",
        "WEIGHTED_ROUND_ROBIN",
    ),
    "spec.default.serviceLbAlgorithm": ("SPRAY_TO_REGION", "WATERFALL_BY_REGION", "WATERFALL_BY_ZONE"),
    **{
        f"spec.default.config.{protocol}HealthCheck.proxyHeader": ("NONE", "PROXY_V1")
        for protocol in ("http", "https", "http2", "tcp")
    },
}
"""Values of fields that take only these, beside those of :mod:`llmd_gke.rules.health`."""

BACKENDS: Mapping[str, str] = {
    "InferencePool": INFERENCE_POOL_GROUP,
    "Service": "",
    "ServiceImport": "net.gke.io",
    gke.IMPORT_KIND: gke.GROUP,
}
GATEWAYS: Mapping[str, str] = {"Gateway": "gateway.networking.k8s.io"}
TARGETS: Mapping[str, Mapping[str, str]] = {
    gke.HEALTH_CHECK.kind: BACKENDS,
    gke.BACKEND_POLICY.kind: BACKENDS,
    gke.SESSION_POLICY.kind: BACKENDS,
    gke.GATEWAY_POLICY.kind: GATEWAYS,
    gke.TRAFFIC_POLICY.kind: {"Service": ""},
    "GCPAuthzPolicy": {**GATEWAYS, "Pod": ""},
    "GCPClientTLSPolicy": {"Namespace": "", "Service": ""},
    "GCPRoutingExtension": GATEWAYS,
    "GCPTrafficExtension": GATEWAYS,
}
"""Kinds of objects that a policy can be attached to, with their groups."""
