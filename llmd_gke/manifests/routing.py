"""The edge: Gateway, HTTPRoutes, and the policies of the gateway implementation (:mod:`llmd_gke.gateways`).

GKE applies *no* change to a Gateway once it rejects one of its routes. So the route uses only features that GKE's
conformance reports claim or users confirmed: prefix and exact paths, prefix replacement, no ``timeouts``, no ``name``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from llmd_gke.catalog import endpoints, front_door, kserve
from llmd_gke.gateways import gke, istio
from llmd_gke.gateways.gateway import INFERENCE_POOL_GROUP, PolicyTarget, Serving
from llmd_gke.json_types import Json, JsonObject
from llmd_gke.manifests import istio as istio_manifests
from llmd_gke.manifests import naming, pod_security
from llmd_gke.manifests.named import Named, named, names, secret
from llmd_gke.rules.open_gateway import OPEN_ANNOTATION
from llmd_gke.settings import GatewaySettings, ModelSettings, TlsSettings

GATEWAY, CERTIFICATE, CERT_MANAGER = "gateway", "certificate", "cert-manager"
"""Names among :func:`objects`, and what a certificate of an issuer waits for."""
GATEWAY_API = "gateway.networking.k8s.io/v1"
NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name"
"""Label that the API server, and nothing else, sets on every namespace
(https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/#automatic-labelling)."""


def place(settings: GatewaySettings) -> JsonObject:
    """Name and namespace of the Gateway."""
    existing = settings.existing
    if existing is not None:
        return {"name": existing.name, "namespace": existing.namespace}
    return {"name": naming.GATEWAY_NAME, "namespace": naming.GATEWAY_NAMESPACE}


def gateway_class(settings: GatewaySettings) -> str:
    """Istio's class, or GKE's regional one for the setting ``exposure``: global ones support no InferencePool."""
    return istio.CLASS if settings.is_istio else gke.CLASSES[settings.exposure]


def gateway(settings: GatewaySettings, address: str, namespaces: Sequence[str]) -> JsonObject:
    """The Gateway at a reserved address, open to routes of ``namespaces`` only. ``address``: the address resource's
    name for GKE, its IP address for Istio.

    Namespaces are selected by name, not by a label of their own: the API server sets ``kubernetes.io/metadata.name``,
    whereas anyone who may label a namespace could admit it and take over a path. A Gateway that is meant to be open to
    everyone has an annotation for the policies.
    """
    annotations: JsonObject = {"pulumi.com/waitFor": "condition=Programmed"}
    if settings.open:
        annotations[OPEN_ANNOTATION] = "true"
    return {
        "apiVersion": GATEWAY_API,
        "kind": "Gateway",
        "metadata": {"name": naming.GATEWAY_NAME, "namespace": naming.GATEWAY_NAMESPACE, "annotations": annotations},
        "spec": {
            "gatewayClassName": gateway_class(settings),
            **_entry(settings, address),
            "listeners": _listeners(settings, namespaces),
        },
    }


def _entry(settings: GatewaySettings, address: str) -> JsonObject:
    if not settings.is_istio:
        return {"addresses": [gke.named_address(address)]}
    access = istio.GLOBAL_ACCESS if settings.allow_global_access else {}
    annotations = {**istio.INTERNAL, **access} if settings.exposure == "internal" else istio.EXTERNAL
    return {"addresses": [istio.address(address)], "infrastructure": {"annotations": annotations}}


def _listeners(settings: GatewaySettings, namespaces: Sequence[str]) -> list[Json]:
    values: list[Json] = [*sorted(namespaces)]
    named: JsonObject = {"key": NAMESPACE_NAME_LABEL, "operator": "In", "values": values}
    for_models: JsonObject = {"from": "Selector", "selector": {"matchExpressions": [named]}}
    if settings.tls is None:
        return [_listener(settings, "http", 80, for_models)]
    https: JsonObject = {**_listener(settings, "https", 443, for_models), "tls": _termination(settings.tls)}
    if not settings.redirect_http:
        return [https]
    # Port 80 admits only our redirect: a model's route there would be served in plain text.
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
    if tls.from_config or tls.issuer is not None:
        return {"mode": "Terminate", "certificateRefs": [{"kind": "Secret", "name": naming.TLS_SECRET}]}
    if tls.certificate_manager:
        return {
            "mode": "Terminate",
            "options": {gke.CERTIFICATE_MANAGER_OPTION: ",".join(tls.certificate_manager)},
        }
    return {"mode": "Terminate", "options": {gke.PRE_SHARED_OPTION: ",".join(tls.pre_shared_certificates)}}


def _issued(issuer: str, domain: str | None) -> JsonObject:
    """The Certificate that cert-manager keeps in a Secret (https://cert-manager.io/docs/usage/certificate/)."""
    annotations: JsonObject = {"pulumi.com/waitFor": "condition=Ready"}
    metadata: JsonObject = {"name": naming.TLS_SECRET, "namespace": naming.GATEWAY_NAMESPACE}
    return {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {**metadata, "annotations": annotations},
        "spec": {
            "secretName": naming.TLS_SECRET,
            "dnsNames": [domain],
            "issuerRef": {"kind": "ClusterIssuer", "name": issuer},
        },
    }


def parent(settings: GatewaySettings, listener: str = "") -> JsonObject:
    """A ``parentRef`` to a listener of the Gateway; without a name, to that for the models."""
    for_models = settings.scheme if settings.existing is None else settings.existing.listener
    # GKE does not claim to support ``port`` of a parent; a listener's name is a core feature.
    return {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        **place(settings),
        "sectionName": listener or for_models,
    }


def redirect(settings: GatewaySettings) -> JsonObject | None:
    """The HTTPRoute that redirects plain HTTP to HTTPS; ``None`` if the settings do not enable it.

    The redirect has no port: GKE claims to support redirects to another scheme, not to another port.
    """
    if settings.tls is None or not settings.redirect_http:
        return None
    to_https: JsonObject = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}
    spec: JsonObject = {"parentRefs": [parent(settings, "http")], "rules": [{"filters": [to_https]}]}
    if settings.domain is not None:
        spec["hostnames"] = [settings.domain]
    return {
        "apiVersion": GATEWAY_API,
        "kind": "HTTPRoute",
        "metadata": {"name": naming.REDIRECT, "namespace": naming.GATEWAY_NAMESPACE},
        "spec": spec,
    }


def gateway_policy(settings: GatewaySettings, ssl_policy: str | None) -> JsonObject | None:
    """GKE's policy of the Gateway; ``None`` if the settings need none."""
    if settings.is_istio:
        return None
    return gke.gateway_policy(naming.GATEWAY_NAME, naming.GATEWAY_NAMESPACE, ssl_policy, settings.allow_global_access)


def objects(
    settings: GatewaySettings,
    namespaces: Sequence[str],
    *,
    address: str,
    ssl_policy: str | None,
    certificate: JsonObject | None,
    scrape_seconds: int | None = None,
) -> list[Named]:
    """The Gateway in a namespace of its own, its policy, and the redirect. ``certificate``: entries of its Secret.
    ``scrape_seconds``: how often the metrics of Istio's proxies are collected (default: never).
    """
    first = [Named("namespace", pod_security.namespace(naming.GATEWAY_NAMESPACE, "restricted"))]
    if certificate is not None:
        made = secret(naming.TLS_SECRET, naming.GATEWAY_NAMESPACE, certificate, type_="kubernetes.io/tls")
        first.append(Named(CERTIFICATE, made, ("namespace",)))
    if settings.tls is not None and settings.tls.issuer is not None:
        first.append(Named(CERTIFICATE, _issued(settings.tls.issuer, settings.domain), ("namespace", CERT_MANAGER)))
    if settings.is_istio:
        ports = [80] if settings.tls is None else [443, 80] if settings.redirect_http else [443]
        first += named(istio_manifests.gateway_policies(namespaces, ports), "namespace")
        first.append(Named("access-log", istio.access_log(naming.GATEWAY_NAMESPACE), ("namespace",)))
        if scrape_seconds is not None:
            first.append(Named("proxies", istio_manifests.metrics(scrape_seconds), ("namespace",)))
    result = [*first, Named(GATEWAY, gateway(settings, address, namespaces), names(first))]
    if (policy := gateway_policy(settings, ssl_policy)) is not None:
        result.append(Named("gateway-policy", policy, ("namespace",)))
    if (to_https := redirect(settings)) is not None:
        result.append(Named("redirect", to_https, (GATEWAY,)))
    return result


def _pool(name: str) -> JsonObject:
    # The group must be that of v1: KServe's own routes list the v1alpha2 pool first, which GKE does not have.
    return {"group": INFERENCE_POOL_GROUP, "kind": "InferencePool", "name": kserve.inference_pool(name)}


def _workload(name: str) -> JsonObject:
    return {"kind": "Service", "name": kserve.workload_service(name), "port": kserve.WORKLOAD_PORT}


def _divided(backend: Callable[[str], JsonObject], shares: Mapping[str, int]) -> list[Json]:
    """The backends of a rule, with weights if there are several: those of versions without requests, too, since KServe
    waits until the load balancer has accepted the pool (`GKE's way of a rollout
    <https://cloud.google.com/kubernetes-engine/docs/how-to/gke-inference-gateway-rollout-operations>`_).
    """
    if len(shares) == 1:
        return [backend(name) for name in shares]
    return [{**backend(name), "weight": share} for name, share in shares.items()]


def _matches(*paths: str) -> list[Json]:
    return [{"path": {"type": "PathPrefix", "value": path}} for path in paths]


def _below(base: str, path: str, backends: list[Json]) -> JsonObject:
    """The rule for one path of the server, below the model's own path. Each path needs a rule because of its rewrite.

    The prefix is replaced by the path itself, never by ``/``: some controllers would produce ``//v1/...``.
    """
    replacement: JsonObject = {"type": "ReplacePrefixMatch", "replacePrefixMatch": path}
    return {
        "matches": _matches(f"{base}{path}"),
        "backendRefs": backends,
        "filters": [{"type": "URLRewrite", "urlRewrite": {"path": replacement}}],
    }


def limited(rules: Sequence[Json], seconds: int, settings: GatewaySettings) -> list[Json]:
    """The rules of a route with the longest answer: Istio has it in the route, GKE in a GCPBackendPolicy."""
    if not settings.is_istio:
        return [*rules]
    return [{**cast("JsonObject", rule), "timeouts": {"request": f"{seconds}s"}} for rule in rules]


def route(model: ModelSettings, settings: GatewaySettings, *, kept: bool = False) -> JsonObject:
    """The HTTPRoute of a model at ``/NAMESPACE/NAME`` (and at ``/`` with ``atRoot``), at the one listener for models;
    that of a version without the model's own path is for this version alone.

    An allow-list: inference goes to the InferencePool, listing, health and the setting ``paths`` to the Service, and
    the gateway answers every other path of the server with 404. The endpoint picker rejects what it cannot parse as a
    chat or a completion. ``kept``: the route stays beside a front door for a transition, and is marked for the
    policies. It has no ``waitFor``: its references resolve only once KServe has created both backends, which it does
    only once the route exists.
    """
    shares = model.release.shares if model.release is not None and model.name == model.model_name else {model.name: 100}
    return _route(model, model.name, shares, settings, kept=kept)


def shared_route(model: ModelSettings, settings: GatewaySettings, *, kept: bool = False) -> JsonObject | None:
    """The HTTPRoute at the model's own path, if no version has the name of the model; ``None`` for all versions but the
    one that carries it.
    """
    release = model.release
    if release is None or model.name == release.model or not model.carries_model:
        return None
    return _route(model, release.model, release.shares, settings, kept=kept)


def _route(
    model: ModelSettings, name: str, shares: Mapping[str, int], settings: GatewaySettings, *, kept: bool
) -> JsonObject:
    others = (*endpoints.LISTING, *model.paths)
    base, pools, workloads = f"/{model.namespace}/{name}", _divided(_pool, shares), _divided(_workload, shares)
    rules: list[Json] = [_below(base, path, workloads) for path in others]
    rules += [_below(base, path, pools) for path in endpoints.INFERENCE]
    if model.at_root and name == model.model_name:
        rules.append({"matches": _matches(*others), "backendRefs": workloads})
        rules.append({"matches": _matches(*endpoints.INFERENCE), "backendRefs": pools})
    rules = limited(rules, model.request_timeout_seconds, settings)
    spec: JsonObject = {"parentRefs": [parent(settings)], "rules": rules}
    if settings.domain is not None:
        spec["hostnames"] = [settings.domain]
    metadata: JsonObject = {"name": naming.route(name), "namespace": model.namespace}
    if kept:
        metadata["annotations"] = {front_door.KEPT_ANNOTATION: "true"}
    return {"apiVersion": GATEWAY_API, "kind": "HTTPRoute", "metadata": metadata, "spec": spec}


def policies(serving: Serving, settings: GatewaySettings) -> dict[str, JsonObject]:
    """GKE's policies for the targets of its requests, by the last part of their resources' names. Istio needs none: its
    endpoints follow the pods' readiness.
    """
    return {} if settings.is_istio else gke.model_policies(serving)


def model_policies(
    model: ModelSettings, settings: GatewaySettings, memory_port: int | None = None
) -> dict[str, JsonObject]:
    """GKE's policies for a model's InferencePool and Service, or Istio's for its endpoint picker and callers, by the
    suffix of their resources' names. ``memory_port``: where GKE reads a chip's memory.
    """
    if settings.is_istio:
        rules = {"picker-tls": istio.picker_rule(model.name, model.namespace, kserve.picker_service(model.name))}
        if settings.mesh is None:
            return rules
        at = f"{naming.GATEWAY_NAMESPACE}/{naming.GATEWAY_NAME}"
        return {**rules, **istio.mesh(model.name, model.namespace, naming.workload_labels(model.name), at, memory_port)}
    workload = kserve.workload_service(model.name)
    return policies(
        Serving(
            name=model.name,
            namespace=model.namespace,
            targets=(
                PolicyTarget("pool", _pool(model.name)),
                # `group` is required even if it is empty.
                PolicyTarget("service", {"group": "", "kind": "Service", "name": workload}),
            ),
            port=kserve.WORKLOAD_PORT,
            health_path="/health",
            timeout_seconds=model.request_timeout_seconds,
            draining_seconds=kserve.PRE_STOP_SECONDS + model.drain_seconds,
            max_rate=model.max_rate_per_endpoint,
        ),
        settings,
    )
