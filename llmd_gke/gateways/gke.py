"""GKE's Gateway: classes, source networks of its data plane, and policies.

Sources: llm-d's gateway guide for GKE (guides/prereq, 3b9ac7a9), gateway-api ``conformance/reports`` v1.4 to v1.6
(gke-gateway), GoogleCloudPlatform/gke-gateway-api CRDs @fc40d606.
"""

from __future__ import annotations

from llmd_gke.gateways.gateway import Explained, PolicyKind, Serving
from llmd_gke.json_types import JsonObject, kubernetes_object

GROUP = "networking.gke.io"
HEALTH_CHECK = PolicyKind(GROUP, "v1", "HealthCheckPolicy", "healthcheckpolicies")
BACKEND_POLICY = PolicyKind(GROUP, "v1", "GCPBackendPolicy", "gcpbackendpolicies")
GATEWAY_POLICY = PolicyKind(GROUP, "v1", "GCPGatewayPolicy", "gcpgatewaypolicies")
SESSION_POLICY = PolicyKind(GROUP, "v1", "GCPSessionAffinityPolicy", "gcpsessionaffinitypolicies")
TRAFFIC_POLICY = PolicyKind(GROUP, "v1", "GCPTrafficDistributionPolicy", "gcptrafficdistributionpolicies")
POLICIES = (HEALTH_CHECK, BACKEND_POLICY, GATEWAY_POLICY, SESSION_POLICY, TRAFFIC_POLICY)

IMPORT_KIND = "GCPInferencePoolImport"
"""An InferencePool of another cluster, in :data:`GROUP`."""

PROXY_SUBNET_PURPOSE = "REGIONAL_MANAGED_PROXY"
PROXY_SUBNET_PURPOSES = (PROXY_SUBNET_PURPOSE, "GLOBAL_MANAGED_PROXY", "INTERNAL_HTTPS_LOAD_BALANCER")
"""The first, that of cross-region load balancers, and the older name of the first."""
"""``purpose`` of the subnet from which a region's managed Envoy proxies take their addresses."""

HEALTH_CHECK_INTERVAL_SECONDS = 15
HEALTH_CHECK_TIMEOUT_SECONDS = 5

REGIONAL_EXTERNAL = "gke-l7-regional-external-managed"
REGIONAL_INTERNAL = "gke-l7-rilb"

INFERENCE_POOL_CLASSES = frozenset({REGIONAL_EXTERNAL, REGIONAL_INTERNAL})
"""Classes that can carry an InferencePool in one cluster. Every other ``gke-l7-*`` class always answers 503."""

CLASSES = {"external": REGIONAL_EXTERNAL, "internal": REGIONAL_INTERNAL}

CLASS_PREFIX = "gke-l7-"

HEALTH_CHECK_RANGES = ("35.191.0.0/16", "130.211.0.0/22")
"""Sources of Google's load-balancer health checks (https://cloud.google.com/load-balancing/docs/health-checks)."""

DEFAULT_BACKEND_TIMEOUT_SECONDS = 30
"""Seconds after which GKE aborts a response with 504 unless a GCPBackendPolicy sets another limit."""

KEEP_ALIVE_SECONDS = 600
"""Idle time of connections to backends, which cannot be set. A backend that closes one earlier resets requests that are
on their way (https://cloud.google.com/load-balancing/docs/https#timeout-keepalive-backends)."""

LONGEST_DRAINING_SECONDS = 3600
"""Most of ``drainingTimeoutSec``, after which the load balancer closes the connections of a backend that was removed
(https://cloud.google.com/load-balancing/docs/enabling-connection-draining)."""

CERTIFICATE_MANAGER_OPTION = "networking.gke.io/cert-manager-certs"
PRE_SHARED_OPTION = "networking.gke.io/pre-shared-certs"
"""TLS options of a listener of the regional classes; certificate *maps* are for global classes only
(https://cloud.google.com/kubernetes-engine/docs/how-to/secure-gateway)."""

CERTIFICATES_PER_LISTENER = 15
"""https://cloud.google.com/load-balancing/docs/quotas#ssl_certificates: certificates of one target HTTPS proxy."""


def gateway_policy(name: str, namespace: str, ssl_policy: str | None, global_access: bool) -> JsonObject | None:
    """The GCPGatewayPolicy with an SSL policy (by name) and global access; ``None`` if neither is requested.

    Source: GoogleCloudPlatform/gke-gateway-api ``config/crd/networking.gke.io_gcpgatewaypolicies.yaml`` @fc40d606.
    """
    default: JsonObject = {}
    if ssl_policy is not None:
        default["sslPolicy"] = ssl_policy
    if global_access:
        default["allowGlobalAccess"] = True
    if not default:
        return None
    target: JsonObject = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": name}
    return _policy(GATEWAY_POLICY, name, namespace, target, default)


def health_checks(model: Serving) -> dict[str, JsonObject]:
    """A HealthCheckPolicy for each target.

    Without them GKE probes ``/``, and every backend is unhealthy. Port specification, group, interval and timeout are
    all set: that is valid under every published version of the CRD's rules.
    """
    check: JsonObject = {"port": model.port, "portSpecification": "USE_FIXED_PORT", "requestPath": model.health_path}
    default: JsonObject = {
        "checkIntervalSec": HEALTH_CHECK_INTERVAL_SECONDS,
        "timeoutSec": HEALTH_CHECK_TIMEOUT_SECONDS,
        "healthyThreshold": 1,
        "unhealthyThreshold": 2,
        "config": {"type": "HTTP", "httpHealthCheck": check},
    }
    return _for_targets(HEALTH_CHECK, "health", model, default)


def backend_policies(model: Serving) -> dict[str, JsonObject]:
    """A GCPBackendPolicy for each target: GKE's default limit of 30 s would abort long responses."""
    default: JsonObject = {
        "timeoutSec": model.timeout_seconds,
        "connectionDraining": {"drainingTimeoutSec": model.draining_seconds},
        "logging": {"enabled": True, "sampleRate": 100000},
    }
    if model.max_rate is not None:
        default["maxRatePerEndpoint"] = model.max_rate
    if model.security_policy is not None:
        default["securityPolicy"] = model.security_policy
    if (proxy := model.identity_proxy) is not None:
        client: JsonObject = {"clientID": proxy.client_id, "oauth2ClientSecret": {"name": proxy.secret}}
        default["iap"] = {"enabled": True, **client}
    return _for_targets(BACKEND_POLICY, "backend", model, default)


def model_policies(model: Serving) -> dict[str, JsonObject]:
    """The policies of a model, by the last part of their resources' names."""
    return {**health_checks(model), **backend_policies(model)}


def _for_targets(kind: PolicyKind, suffix: str, model: Serving, default: JsonObject) -> dict[str, JsonObject]:
    return {
        f"{suffix}-{target.key}": _policy(
            kind, f"{model.name}-{suffix}-{target.key}", model.namespace, target.reference, default
        )
        for target in model.targets
    }


def _policy(kind: PolicyKind, name: str, namespace: str, target: JsonObject, default: JsonObject) -> JsonObject:
    spec: JsonObject = {"targetRef": target, "default": default}
    return kubernetes_object(kind.api_version, kind.kind, name, namespace, spec=spec)


CONDITIONS = (
    Explained(
        True,
        "GKE rejects a field of the route (GWCER104, mostly `timeouts`); until it is removed, no change to the "
        "Gateway or its other routes takes effect",
        type="Accepted",
        reason="UnsupportedValue|Invalid",
        message="Timeouts are not supported|GWCER104",
        fix="pulumi preview --stack {stack} --policy-pack policies",
    ),
    Explained(
        True,
        "GKE has not applied the route to the load balancer; the last accepted configuration stays in effect for "
        "the whole Gateway",
        type="Reconciled",
        fix="kubectl -n {namespace} get httproute {name} -o yaml",
    ),
    Explained(
        True, "the region has no proxy-only subnet", type="Programmed", message=f"proxy-only|{PROXY_SUBNET_PURPOSE}"
    ),
    Explained(
        True,
        "the policy has no effect: its target does not exist, has no gateway, or already has another policy",
        type="Attached",
        reason="GatewayNotFound|TargetNotFound|Conflicted|Invalid",
        fix="kubectl -n {namespace} get healthcheckpolicy,gcpbackendpolicy -o yaml",
    ),
    Explained(False, "GKE has not attached the policy yet", type="Attached"),
)
