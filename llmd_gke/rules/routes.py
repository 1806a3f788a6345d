"""Rules about HTTPRoutes behind GKE's Gateway. Facts: :mod:`llmd_gke.gateways.gke_routes`.

A *route* is the ``spec`` of an HTTPRoute, or the same inside an LLMInferenceService or its Config.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llmd_gke.gateways import gke_routes as features
from llmd_gke.gateways.gateway import INFERENCE_POOL_GROUP, RouteFeature
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Unknown


def inline_route(spec: Input) -> Input:
    """The route inside the ``spec`` of an LLMInferenceService or LLMInferenceServiceConfig."""
    return spec.get("router", "route", "http", "spec")


def belongs_elsewhere(parents: Iterable[Input], namespace: str | None, others: Iterable[str]) -> bool:
    """Whether every parent is a Service (a mesh) or one of the Gateways ``others``: ``NAME`` or ``NAMESPACE/NAME``.

    ``namespace`` is the route's, ``None`` while it is not known. A parent that may be one of the others counts as one:
    unknown values are noted, and the route is checked as soon as they are known.
    """
    names = set(others)
    seen = False
    for parent in parents:
        seen = True
        kind = parent.get("kind")
        if kind.text() in ("ListenerSet", "XListenerSet"):
            return False  # additional listeners of some Gateway, which the route does not name
        if kind.value is not None and kind.text() != "Gateway":
            continue
        if not _may_be_one_of(names, parent, namespace):
            return False
    return seen


def _may_be_one_of(others: set[str], parent: Input, namespace: str | None) -> bool:
    name, parent_namespace = parent.get("name"), parent.get("namespace")
    if isinstance(name.value, Unknown):
        return bool(others) and name.text() is None
    written = name.text() or ""
    if written in others:
        return True
    namespaces = {other.rpartition("/")[0] for other in others if other.endswith(f"/{written}")}
    where = namespace if parent_namespace.value is None else parent_namespace.text()
    return where in namespaces or (where is None and bool(namespaces))


def timeouts(route: Input) -> Iterator[Finding]:
    """No rule has ``timeouts``: GKE rejects even ``0s``, and then applies no further change to the Gateway."""
    for rule in route.get("rules").each():
        if rule.get("timeouts").present():
            yield Finding(
                "route-timeouts",
                f"{rule.path}.timeouts: GKE rejects timeouts in any form ({features.TIMEOUTS_ERROR}), and then no "
                "change to the whole Gateway takes effect",
                allowed="rules without timeouts",
                fix="remove timeouts, and set spec.default.timeoutSec in a GCPBackendPolicy for the backend",
            )


def _refused(path: str, feature: RouteFeature) -> Finding:
    return Finding(
        "route-refused-features",
        f"{path}: GKE rejects {feature.name} ({feature.conformance}), and then no later change to the route's "
        "Gateway takes effect",
        fix=feature.instead,
    )


def refused_features(route: Input) -> Iterator[Finding]:
    """The route uses no feature that GKE rejects (:func:`timeouts` are checked separately)."""
    for rule in route.get("rules").each():
        if rule.get("retry").present():
            yield _refused(f"{rule.path}.retry", features.REFUSED["retry"])
        for match in rule.get("matches").each():
            if match.get("path", "type").text() == "RegularExpression":
                yield _refused(f"{match.path}.path", features.REFUSED["regex_path"])
            if match.get("method").present():
                yield _refused(f"{match.path}.method", features.REFUSED["method"])
        for used in rule.get("filters").each():
            yield from _refused_filter(used)
        for backend in rule.get("backendRefs").each():
            if list(backend.get("filters").each()):
                yield _refused(f"{backend.path}.filters", features.REFUSED["backend_filter"])


def _refused_filter(used: Input) -> Iterator[Finding]:
    if used.get("urlRewrite", "path", "type").text() == "ReplaceFullPath":
        yield _refused(f"{used.path}.urlRewrite.path", features.REFUSED["full_path"])
    if used.get("type").text() == "CORS" or used.get("cors").present():
        yield _refused(used.path, features.REFUSED["cors"])
    redirect = used.get("requestRedirect")
    if redirect.get("port").present():
        yield _refused(f"{redirect.path}.port", features.REFUSED["redirect_port"])
    if redirect.get("statusCode").integer() in features.UNSUPPORTED_REDIRECTS:
        yield _refused(f"{redirect.path}.statusCode", features.REFUSED["redirect_status"])


def _unclaimed(path: str, feature: RouteFeature) -> Finding:
    return Finding(
        "route-unclaimed-features",
        f"{path}: GKE's conformance reports do not list {feature.name} as supported ({feature.conformance}); if "
        "GKE rejects the route, no change to the Gateway or its other routes takes effect",
        fix=feature.instead,
    )


def unclaimed_features(route: Input) -> Iterator[Finding]:
    """The route uses only features that GKE's conformance reports list as supported."""
    for parent in route.get("parentRefs").each():
        if parent.get("port").present():
            yield _unclaimed(f"{parent.path}.port", features.UNCLAIMED["parent_port"])
    for rule in route.get("rules").each():
        if rule.get("name").present():
            yield _unclaimed(f"{rule.path}.name", features.UNCLAIMED["named_rule"])
        if rule.get("sessionPersistence").present():
            yield _unclaimed(f"{rule.path}.sessionPersistence", features.UNCLAIMED["session"])
        if sum(used.get("type").text() == "RequestMirror" for used in rule.get("filters").each()) > 1:
            yield _unclaimed(f"{rule.path}.filters", features.UNCLAIMED["mirrors"])
        for match in rule.get("matches").each():
            for key in ("headers", "queryParams"):
                for part in match.get(key).each():
                    if part.get("type").text() == "RegularExpression":
                        yield _unclaimed(part.path, features.UNCLAIMED["regex_match"])
            if list(match.get("queryParams").each()):
                yield _unclaimed(f"{match.path}.queryParams", features.UNCLAIMED["query"])


def backends(route: Input) -> Iterator[Input]:
    """Every ``backendRef`` of the route."""
    for rule in route.get("rules").each():
        yield from rule.get("backendRefs").each()


def pool_groups(references: Iterable[Input]) -> Iterator[Finding]:
    """References name their kind's group: GKE has only v1's for InferencePools; that of Services is empty."""
    for reference in references:
        group, kind = reference.get("group"), reference.get("kind").text() or "Service"
        if kind == "Service" and group.text() in ("core", "v1"):
            problem = f"{group.path} is {group.text()}, but the group of Services is empty: there is no such backend"
            yield Finding("inference-pool-group", problem, allowed="group: ''", fix="remove group")
        if kind != "InferencePool":
            continue
        if group.text() == INFERENCE_POOL_GROUP or (group.value is not None and not group.present()):
            continue
        named = "no group" if group.text() in (None, "") else f"group {group.text()}"
        yield Finding(
            "inference-pool-group",
            f"{reference.path}: the reference to an InferencePool uses {named}; GKE supports only "
            f"{INFERENCE_POOL_GROUP} and answers 503 for other groups",
            allowed=f"group: {INFERENCE_POOL_GROUP}",
            fix=f"set group: {INFERENCE_POOL_GROUP}",
        )
