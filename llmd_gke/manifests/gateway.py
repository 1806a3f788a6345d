"""The Gateway in a namespace of its own: class, address, listeners, certificate, policy, and the redirect."""

from __future__ import annotations

from collections.abc import Sequence

from llmd_gke.gateways import gke, istio
from llmd_gke.json_types import Json, JsonObject, kubernetes_object
from llmd_gke.manifests import istio as proxies
from llmd_gke.manifests import naming, pod_security
from llmd_gke.manifests.named import Named, named, names, secret
from llmd_gke.rules.open_gateway import OPEN_ANNOTATION
from llmd_gke.settings import GatewaySettings, TlsSettings

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
    spec: JsonObject = {
        "gatewayClassName": gateway_class(settings),
        **_entry(settings, address),
        "listeners": _listeners(settings, namespaces),
    }
    at = (naming.GATEWAY_NAME, naming.GATEWAY_NAMESPACE)
    return kubernetes_object(GATEWAY_API, "Gateway", *at, annotations=annotations, spec=spec)


def _entry(settings: GatewaySettings, address: str) -> JsonObject:
    if not settings.is_istio:
        return {"addresses": [{"type": "NamedAddress", "value": address}]}
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
    return kubernetes_object(
        "cert-manager.io/v1",
        "Certificate",
        naming.TLS_SECRET,
        naming.GATEWAY_NAMESPACE,
        annotations={"pulumi.com/waitFor": "condition=Ready"},
        spec={
            "secretName": naming.TLS_SECRET,
            "dnsNames": [domain],
            "issuerRef": {"kind": "ClusterIssuer", "name": issuer},
        },
    )


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
    return kubernetes_object(GATEWAY_API, "HTTPRoute", naming.REDIRECT, naming.GATEWAY_NAMESPACE, spec=spec)


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
        first += named(proxies.gateway_policies(namespaces, ports), "namespace")
        first.append(Named("access-log", istio.access_log(naming.GATEWAY_NAMESPACE), ("namespace",)))
        if scrape_seconds is not None:
            first.append(Named("proxies", proxies.metrics(scrape_seconds), ("namespace",)))
    result = [*first, Named(GATEWAY, gateway(settings, address, namespaces), names(first))]
    if (policy := gateway_policy(settings, ssl_policy)) is not None:
        result.append(Named("gateway-policy", policy, ("namespace",)))
    if (to_https := redirect(settings)) is not None:
        result.append(Named("redirect", to_https, (GATEWAY,)))
    return result
