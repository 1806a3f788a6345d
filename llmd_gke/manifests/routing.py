"""The edge: GatewayClass, Gateway, HTTPRoute and the two GKE policies that an InferencePool and a Service need.

GKE stops taking *any* change of a Gateway once one of its routes is refused, so the route keeps to what GKE's
conformance reports claim or users proved: prefix and exact paths, prefix replacement, no ``timeouts``, no ``name``.
"""

from __future__ import annotations

from collections.abc import Sequence

from llmd_gke.catalog import endpoints, kserve
from llmd_gke.catalog import gateway as gke
from llmd_gke.manifests import naming
from llmd_gke.manifests.types import Json, JsonObject
from llmd_gke.settings import GatewaySettings, ModelSettings, TlsSettings

GATEWAY_API = "gateway.networking.k8s.io/v1"
GKE_API = "networking.gke.io/v1"
NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name"
"""Set on every namespace by the API server, and by nobody else
(https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/#automatic-labelling)."""

HEALTH_CHECK_INTERVAL_SECONDS = 15
HEALTH_CHECK_TIMEOUT_SECONDS = 5


def gateway_class(settings: GatewaySettings) -> str:
    """The regional class for the exposure: no global one can carry an InferencePool."""
    return gke.REGIONAL_EXTERNAL if settings.exposure == "external" else gke.REGIONAL_INTERNAL


def gateway(settings: GatewaySettings, address_name: str, namespaces: Sequence[str]) -> JsonObject:
    """The Gateway at a reserved address (by the address resource's name), open to routes of ``namespaces`` only.

    They are named, not labelled: the API server sets ``kubernetes.io/metadata.name`` itself, while whoever may label a
    namespace could admit it, and take over a path.
    """
    return {
        "apiVersion": GATEWAY_API,
        "kind": "Gateway",
        "metadata": {
            "name": naming.GATEWAY_NAME,
            "namespace": naming.GATEWAY_NAMESPACE,
            "annotations": {"pulumi.com/waitFor": "condition=Programmed"},
        },
        "spec": {
            "gatewayClassName": gateway_class(settings),
            "addresses": [{"type": "NamedAddress", "value": address_name}],
            "listeners": _listeners(settings, namespaces),
        },
    }


def _listeners(settings: GatewaySettings, namespaces: Sequence[str]) -> list[Json]:
    values: list[Json] = [*sorted(namespaces)]
    named: JsonObject = {"key": NAMESPACE_NAME_LABEL, "operator": "In", "values": values}
    for_models: JsonObject = {"from": "Selector", "selector": {"matchExpressions": [named]}}
    if settings.tls is None:
        return [_listener(settings, "http", 80, for_models)]
    https: JsonObject = {**_listener(settings, "https", 443, for_models), "tls": _termination(settings.tls)}
    if not settings.redirect_http:
        return [https]
    # Port 80 takes our redirect and nothing else: a model's route there would be served in plain text.
    return [https, _listener(settings, "http", 80, {"from": "Same"})]


def _listener(settings: GatewaySettings, name: str, port: int, namespaces: JsonObject) -> JsonObject:
    listener: JsonObject = {
        "name": name,
        "protocol": name.upper(),
        "port": port,
        "allowedRoutes": {
            "kinds": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute"}],
            "namespaces": namespaces,
        },
    }
    if settings.domain is not None:
        listener["hostname"] = settings.domain
    return listener


def _termination(tls: TlsSettings) -> JsonObject:
    if tls.from_config:
        return {"mode": "Terminate", "certificateRefs": [{"kind": "Secret", "name": naming.TLS_SECRET}]}
    if tls.certificate_manager:
        return {
            "mode": "Terminate",
            "options": {gke.CERTIFICATE_MANAGER_OPTION: ",".join(tls.certificate_manager)},
        }
    return {"mode": "Terminate", "options": {gke.PRE_SHARED_OPTION: ",".join(tls.pre_shared_certificates)}}


def _parent(listener: str) -> JsonObject:
    # The port of a parent is a feature that GKE does not claim; a listener's name is part of the core.
    return {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        "name": naming.GATEWAY_NAME,
        "namespace": naming.GATEWAY_NAMESPACE,
        "sectionName": listener,
    }


def redirect(settings: GatewaySettings) -> JsonObject | None:
    """The HTTPRoute that sends plain HTTP to HTTPS, where the settings ask for it.

    No port in the redirect: GKE claims scheme redirects, not port redirects.
    """
    if settings.tls is None or not settings.redirect_http:
        return None
    to_https: JsonObject = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}
    spec: JsonObject = {"parentRefs": [_parent("http")], "rules": [{"filters": [to_https]}]}
    if settings.domain is not None:
        spec["hostnames"] = [settings.domain]
    return {
        "apiVersion": GATEWAY_API,
        "kind": "HTTPRoute",
        "metadata": {"name": naming.REDIRECT, "namespace": naming.GATEWAY_NAMESPACE},
        "spec": spec,
    }


def gateway_policy(settings: GatewaySettings, ssl_policy: str | None) -> JsonObject | None:
    """The GCPGatewayPolicy: SSL policy (by its name) and global access; ``None`` where neither is wanted.

    Source: GoogleCloudPlatform/gke-gateway-api ``config/crd/networking.gke.io_gcpgatewaypolicies.yaml`` @fc40d606.
    """
    default: JsonObject = {}
    if ssl_policy is not None:
        default["sslPolicy"] = ssl_policy
    if settings.allow_global_access:
        default["allowGlobalAccess"] = True
    if not default:
        return None
    target: JsonObject = {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        "name": naming.GATEWAY_NAME,
    }
    return {
        "apiVersion": GKE_API,
        "kind": "GCPGatewayPolicy",
        "metadata": {"name": naming.GATEWAY_NAME, "namespace": naming.GATEWAY_NAMESPACE},
        "spec": {"targetRef": target, "default": default},
    }


def _pool(model: ModelSettings) -> JsonObject:
    # The group must be the v1 one: KServe's own routes name the v1alpha2 pool first, which GKE does not have.
    return {"group": gke.INFERENCE_POOL_GROUP, "kind": "InferencePool", "name": kserve.inference_pool(model.name)}


def _workload(model: ModelSettings) -> JsonObject:
    return {"kind": "Service", "name": kserve.workload_service(model.name), "port": kserve.WORKLOAD_PORT}


def _matches(*paths: str) -> list[Json]:
    return [{"path": {"type": "PathPrefix", "value": path}} for path in paths]


def _below(model: ModelSettings, path: str, backend: JsonObject) -> JsonObject:
    """One path of the server below the model's own: a rewrite belongs to a rule, so each path is a rule.

    The prefix becomes the path itself, never ``/``: some controllers make ``//v1/...`` of that.
    """
    replacement: JsonObject = {"type": "ReplacePrefixMatch", "replacePrefixMatch": path}
    return {
        "matches": _matches(f"{model.path}{path}"),
        "backendRefs": [backend],
        "filters": [{"type": "URLRewrite", "urlRewrite": {"path": replacement}}],
    }


def route(model: ModelSettings, settings: GatewaySettings) -> JsonObject:
    """The HTTPRoute of a model at ``/NAMESPACE/NAME`` (and at ``/`` with ``atRoot``), at the one listener for models.

    An allow-list: inference (and the setting ``paths``) goes to the InferencePool, listing and health to the Service,
    and every other path of the server is answered 404 by the gateway. No ``waitFor``: its references resolve only once
    KServe has made both, and KServe makes them only once the route exists.
    """
    inference = (*endpoints.INFERENCE, *model.paths)
    rules: list[Json] = [_below(model, path, _workload(model)) for path in endpoints.LISTING]
    rules += [_below(model, path, _pool(model)) for path in inference]
    if model.at_root:
        rules.append({"matches": _matches(*endpoints.LISTING), "backendRefs": [_workload(model)]})
        rules.append({"matches": _matches(*inference), "backendRefs": [_pool(model)]})
    spec: JsonObject = {"parentRefs": [_parent(settings.scheme)], "rules": rules}
    if settings.domain is not None:
        spec["hostnames"] = [settings.domain]
    return {
        "apiVersion": GATEWAY_API,
        "kind": "HTTPRoute",
        "metadata": {"name": naming.route(model.name), "namespace": model.namespace},
        "spec": spec,
    }


def _targets(model: ModelSettings) -> dict[str, JsonObject]:
    return {
        "pool": _pool(model),
        # `group` is required, also where it is empty.
        "service": {"group": "", "kind": "Service", "name": kserve.workload_service(model.name)},
    }


def health_checks(model: ModelSettings) -> dict[str, JsonObject]:
    """A HealthCheckPolicy for the InferencePool and one for the Service.

    Without them GKE asks ``/`` and calls every backend unhealthy. Port specification, group, interval and timeout are
    written out: that is valid under every published version of the CRD's rules.
    """
    check: JsonObject = {"port": kserve.WORKLOAD_PORT, "portSpecification": "USE_FIXED_PORT", "requestPath": "/health"}
    default: JsonObject = {
        "checkIntervalSec": HEALTH_CHECK_INTERVAL_SECONDS,
        "timeoutSec": HEALTH_CHECK_TIMEOUT_SECONDS,
        "healthyThreshold": 1,
        "unhealthyThreshold": 2,
        "config": {"type": "HTTP", "httpHealthCheck": check},
    }
    return _policies("HealthCheckPolicy", "health", model, default)


def backend_policies(model: ModelSettings) -> dict[str, JsonObject]:
    """A GCPBackendPolicy for the InferencePool and one for the Service: GKE's own limit of 30 s cuts long answers."""
    default: JsonObject = {
        "timeoutSec": model.request_timeout_seconds,
        "connectionDraining": {"drainingTimeoutSec": 60},
        "logging": {"enabled": True, "sampleRate": 100000},
    }
    if model.max_rate_per_endpoint is not None:
        default["maxRatePerEndpoint"] = model.max_rate_per_endpoint
    return _policies("GCPBackendPolicy", "backend", model, default)


def _policies(kind: str, suffix: str, model: ModelSettings, default: JsonObject) -> dict[str, JsonObject]:
    return {
        f"{suffix}-{place}": {
            "apiVersion": GKE_API,
            "kind": kind,
            "metadata": {"name": f"{model.name}-{suffix}-{place}", "namespace": model.namespace},
            "spec": {"targetRef": target, "default": default},
        }
        for place, target in _targets(model).items()
    }
