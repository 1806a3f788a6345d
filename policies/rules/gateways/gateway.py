"""Gateways: which of GKE's classes can serve models."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.gateways.gke import INFERENCE_POOL_CLASSES
from llmd_gke.gateways.gke_routes import REPORTS
from llmd_gke.rules import gateway
from llmd_gke.rules.finding import Finding
from policies.rules.kinds import ALPHA_POOL, CHARTS, GATEWAY, HTTP_ROUTE, LLM_SERVICE, POOL
from policies.rules.rule import Parameter, ParameterValues, Program, Rule, Subject


def _class(subject: Subject, settings: ParameterValues) -> Iterator[Finding]:
    yield from gateway.gateway_class(subject.spec.get("gatewayClassName"), settings.texts("allowed"))


def _serves_models(program: Program, subject: Subject) -> bool | None:
    """Whether a Gateway has a route to an InferencePool, or one that is not in the program: of KServe, or of a chart.

    ``None`` if names are not known by which its routes refer to it.
    """
    routes = [(_is_parent(subject, route), _leads_to_pool(route)) for route in program.of(HTTP_ROUTE)]
    pools = any(leads for _, leads in routes) or any(program.of(POOL, ALPHA_POOL, LLM_SERVICE, *CHARTS))
    if any(program.of(LLM_SERVICE, *CHARTS)) or all(parent is False for parent, _ in routes):
        return pools
    parents = [parent for parent, leads in routes if leads and parent is not False]
    return True if True in parents else None if parents else False


def _leads_to_pool(route: Subject) -> bool:
    rules = route.spec.get("rules").each()
    return any(ref.get("kind").text() == POOL.name for rule in rules for ref in rule.get("backendRefs").each())


def _is_parent(gateway: Subject, route: Subject) -> bool | None:
    own, answers = gateway.identity, list[bool | None]()
    for parent in route.spec.get("parentRefs").each():
        namespace, name = route.namespace_of(parent), parent.get("name").text()
        answers.append(None if None in (own, namespace, name) else (namespace, name) == own)
    return True if True in answers else None if None in answers else False


def _unclaimed(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    yield from gateway.unclaimed_gateway_features(subject.spec)
    yield from gateway.foreign_annotations(subject.node)


GATEWAY_CLASS = Rule(
    name="gateway-class",
    title="GKE Gateways use a class that supports InferencePools",
    why="Of GKE's classes, only the two regional, single-cluster ones support an InferencePool as a backend. "
    "Global, classic and multi-cluster classes accept the Gateway but answer 503 forever. Classes other than "
    "GKE's (`gke-l7-…`) are not checked.",
    sources=(
        "https://github.com/llm-d/llm-d/tree/main/guides/prereq/gateway-provider",
        "https://github.com/GoogleCloudPlatform/gke-gateway-api/issues/20",
    ),
    kinds=(GATEWAY,),
    check_object=_class,
    relevant=_serves_models,
    severity="critical",
    parameters=(
        Parameter("allowed", tuple(sorted(INFERENCE_POOL_CLASSES)), "The GKE GatewayClasses that Gateways may use"),
    ),
    opt_out="If a Gateway does not serve models and needs another class, add that class to `allowed`.",
)

CERTIFICATES = Rule(
    name=gateway.CERTIFICATE_RULE,
    title="HTTPS listeners have certificates that their class takes",
    why="GKE answers `GWCER105` and never programs the Gateway: a certificate map at a regional class, a Secret in a "
    "group other than the empty one, certificates of two sources, or none.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/how-to/secure-gateway",),
    kinds=(GATEWAY,),
    check_object=lambda subject, _: gateway.listener_certificates(subject.node, partial=subject.partial),
)

GATEWAY_FEATURES = Rule(
    name="gateway-unclaimed-features",
    title="Gateways use only features that GKE reports as supported",
    why="GKE's conformance reports up to GKE 1.36 list GatewayInfrastructurePropagation and GatewayAddressEmpty as "
    "not supported. Annotations of Services and Ingresses have no effect on a Gateway.",
    sources=(REPORTS,),
    kinds=(GATEWAY,),
    check_object=_unclaimed,
    level="advisory",
    severity="low",
)
