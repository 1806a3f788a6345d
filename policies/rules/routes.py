"""Routes: what makes GKE reject one, and freeze its Gateway with it."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.rules import gateway, routes
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Node
from policies.rules.rule import (
    ALPHA_POOL,
    ANY_POLICY,
    BACKEND_POLICY,
    HEALTH_CHECK,
    HTTP_ROUTE,
    SERVICE,
    SERVICE_CONFIG,
    Example,
    Parameter,
    Rule,
    Settings,
    Subject,
)

OTHER_GATEWAYS = Parameter(
    "otherGateways",
    (),
    "Gateways that are not GKE's, as NAME or NAMESPACE/NAME: routes attached only to these are not judged",
)
REPORTS = "https://github.com/kubernetes-sigs/gateway-api/tree/v1.6.1/conformance/reports"
ROUTE_KINDS = (HTTP_ROUTE, SERVICE, SERVICE_CONFIG)


def route_of(subject: Subject) -> Node:
    """The route in an object of one of :data:`ROUTE_KINDS`."""
    return subject.spec if subject.kind == HTTP_ROUTE else routes.inline_route(subject.spec)


def is_elsewhere(subject: Subject, settings: Settings) -> bool:
    """Whether configuration says that the object's Gateways are not GKE's, or may say so once all is known."""
    parents = [*route_of(subject).get("parentRefs").each()]
    if subject.kind != HTTP_ROUTE:
        parents += subject.spec.get("router", "gateway", "refs").each()
    others = settings.texts("otherGateways")
    beside = bool(others) and any(parent.get("namespace").value is None for parent in parents)
    return routes.belongs_elsewhere(parents, subject.namespace if beside else "", others)


def _timeouts(subject: Subject, settings: Settings) -> Iterator[Finding]:
    if not is_elsewhere(subject, settings):
        yield from routes.timeouts(route_of(subject))


def _refused(subject: Subject, settings: Settings) -> Iterator[Finding]:
    if not is_elsewhere(subject, settings):
        yield from routes.refused_features(route_of(subject))


def _unclaimed(subject: Subject, settings: Settings) -> Iterator[Finding]:
    if not is_elsewhere(subject, settings):
        yield from routes.unclaimed_features(route_of(subject))


def _references(subject: Subject) -> Iterator[Node]:
    if subject.kind in ROUTE_KINDS:
        yield from routes.backends(route_of(subject))
    else:
        yield subject.spec.get("targetRef")


def _pool_group(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    if subject.kind == ALPHA_POOL:
        yield Finding(
            "inference-pool-group",
            "an InferencePool of the deprecated v1alpha2 group: GKE does not have its CRD",
            allowed="apiVersion: inference.networking.k8s.io/v1",
            fix="make a v1 InferencePool (targetPorts, endpointPickerRef)",
        )
    else:
        yield from routes.pool_groups(_references(subject))


def _generated(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    shaped = subject.kind not in (HTTP_ROUTE, HEALTH_CHECK, BACKEND_POLICY)
    for reference in gateway.targets(subject.node) if shaped else _references(subject):
        yield from gateway.generated_target(reference)


def route_yaml(rule: str, parent: str = "{name: inference-gateway, namespace: inference-gateway}") -> str:
    """A route with one rule."""
    return f"""\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: qwen, namespace: models}}
spec:
  parentRefs: [{parent}]
  rules:
    - {rule}
"""


POOL_BACKEND = "backendRefs: [{group: inference.networking.k8s.io, kind: InferencePool, name: qwen-inference-pool}]"
GOOD_ROUTE = route_yaml(
    "{matches: [{path: {type: PathPrefix, value: /models/qwen}}], filters: [{type: URLRewrite, urlRewrite: "
    "{hostname: qwen.example.com, path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}], " + POOL_BACKEND + "}"
)


def inline_yaml(rule: str, kind: str = "LLMInferenceService") -> str:
    """The same rule inside KServe's kinds."""
    return f"""\
apiVersion: serving.kserve.io/v1alpha2
kind: {kind}
metadata: {{name: qwen, namespace: models}}
spec:
  model: {{uri: "hf://Qwen/Qwen3-4B"}}
  router:
    route:
      http:
        spec:
          rules:
            - {rule}
"""


ROUTE_TIMEOUTS = Rule(
    name="route-timeouts",
    title="Routes of GKE's Gateway have no timeouts",
    why="GKE answers `GWCER104: HTTPRoute is misconfigured, err: Timeouts are not supported`, also for `0s`, and one "
    "refused route stops GKE from taking any further change of its Gateway. KServe writes timeouts into every route "
    "it makes itself, and its `disableHTTPRouteTimeout` does not reach LLMInferenceService.",
    sources=("https://github.com/kserve/kserve/issues/5707", "https://github.com/kserve/kserve/issues/5311", REPORTS),
    kinds=ROUTE_KINDS,
    check=_timeouts,
    severity="critical",
    parameters=(OTHER_GATEWAYS,),
    bad=Example(
        route_yaml("{timeouts: {request: 0s, backendRequest: 0s}, " + POOL_BACKEND + "}"),
        unknown="spec.rules[0].timeouts",
    ),
    good=Example(GOOD_ROUTE),
    more_bad=(
        Example(inline_yaml("{timeouts: {request: 30s}, " + POOL_BACKEND + "}")),
        Example(inline_yaml("{timeouts: {request: 30s}, " + POOL_BACKEND + "}", "LLMInferenceServiceConfig")),
    ),
    opt_out="Routes of another Gateway: name it in `otherGateways`.",
)

REFUSED_FEATURES = Rule(
    name="route-refused-features",
    title="Routes of GKE's Gateway use no feature that GKE rejects",
    why="Retry, regular-expression paths, method matches, ReplaceFullPath, redirects with a port or with 303, 307, "
    "308, filters inside backendRefs and CORS are rejected, and one rejected route freezes the whole Gateway.",
    sources=(REPORTS, "https://github.com/kserve/kserve/issues/5319"),
    kinds=ROUTE_KINDS,
    check=_refused,
    severity="critical",
    parameters=(OTHER_GATEWAYS,),
    bad=Example(
        route_yaml("{matches: [{path: {type: RegularExpression, value: '/v1/.*'}}], " + POOL_BACKEND + "}"),
        unknown="spec.rules[0].matches[0].path.type",
    ),
    good=Example(GOOD_ROUTE),
    more_bad=tuple(
        Example(make(rule))
        for make in (route_yaml, inline_yaml)
        for rule in (
            "{retry: {attempts: 3}, " + POOL_BACKEND + "}",
            "{matches: [{method: POST}], " + POOL_BACKEND + "}",
            "{filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, replaceFullPath: /}}}]}",
            "{filters: [{type: RequestRedirect, requestRedirect: {scheme: https, port: 8443}}]}",
            "{filters: [{type: RequestRedirect, requestRedirect: {scheme: https, statusCode: 308}}]}",
            "{filters: [{type: CORS, cors: {allowOrigins: ['https://a.example']}}]}",
            "{backendRefs: [{name: web, port: 80, filters: [{type: RequestHeaderModifier}]}]}",
        )
    ),
    more_good=(
        Example(route_yaml("{filters: [{type: RequestRedirect, requestRedirect: {scheme: https, statusCode: 301}}]}")),
        Example(route_yaml("{matches: [{headers: [{name: x-model, value: qwen}]}], " + POOL_BACKEND + "}")),
    ),
    opt_out="Routes of another Gateway: name it in `otherGateways`.",
)

UNCLAIMED_FEATURES = Rule(
    name="route-unclaimed-features",
    title="Routes of GKE's Gateway keep to features that GKE claims",
    why="Rule names, ports in parentRefs, several mirrors, query parameters (before GKE 1.35.2), regular expressions "
    "for headers and session persistence are not claimed by GKE's conformance reports. Whether it rejects or ignores "
    "them is not known.",
    sources=(REPORTS,),
    kinds=ROUTE_KINDS,
    check=_unclaimed,
    level="advisory",
    severity="low",
    parameters=(OTHER_GATEWAYS,),
    bad=Example(route_yaml("{name: inference, " + POOL_BACKEND + "}"), unknown="spec.rules[0].name"),
    good=Example(GOOD_ROUTE),
    more_bad=(
        Example(route_yaml("{" + POOL_BACKEND + "}", "{name: g, port: 80}")),
        Example(route_yaml("{matches: [{queryParams: [{name: a, value: b}]}], " + POOL_BACKEND + "}")),
        Example(route_yaml("{matches: [{headers: [{name: a, value: b, type: RegularExpression}]}]}")),
    ),
)

POOL_GROUP = Rule(
    name="inference-pool-group",
    title="InferencePools are referred to by the v1 group",
    why="GKE owns the CRD of `inference.networking.k8s.io/v1` (from 1.34.0-gke.1626000) and has none for the older "
    "`inference.networking.x-k8s.io`; a reference without group means a core kind. Either way the load balancer has "
    "no backend.",
    sources=(
        "https://github.com/kubernetes-sigs/gateway-api-inference-extension/tree/v1.5.0/config/crd/bases",
        "https://github.com/kserve/kserve/issues/5050",
    ),
    kinds=(*ROUTE_KINDS, HEALTH_CHECK, BACKEND_POLICY, ALPHA_POOL),
    check=_pool_group,
    bad=Example(
        route_yaml("{backendRefs: [{group: inference.networking.x-k8s.io, kind: InferencePool, name: qwen}]}"),
        unknown="spec.rules[0].backendRefs[0].group",
    ),
    good=Example(GOOD_ROUTE),
    more_bad=(
        Example(route_yaml("{backendRefs: [{kind: InferencePool, name: qwen}]}")),
        Example(
            "apiVersion: inference.networking.x-k8s.io/v1alpha2\nkind: InferencePool\n"
            "metadata: {name: qwen}\nspec: {}\n"
        ),
        Example(
            "apiVersion: networking.gke.io/v1\nkind: HealthCheckPolicy\nmetadata: {name: qwen}\n"
            "spec: {targetRef: {group: inference.networking.x-k8s.io, kind: InferencePool, name: qwen}}\n"
        ),
    ),
)

GENERATED_TARGET = Rule(
    name="generated-service-target",
    title="Nothing aims at a Service whose name GKE generates",
    why="For an InferencePool GKE makes a headless Service `POOL-ip-HASH`. A policy on it never attaches "
    "(GatewayNotFound), and the name is another after a re-creation. HealthCheckPolicy and GCPBackendPolicy take the "
    "InferencePool itself as target.",
    sources=(
        "https://github.com/kubernetes-sigs/gateway-api-inference-extension/blob/v1.0.0/config/charts/inferencepool/"
        "templates/gke.yaml",
    ),
    kinds=(HTTP_ROUTE, HEALTH_CHECK, BACKEND_POLICY, ANY_POLICY),
    check=_generated,
    bad=Example(
        "apiVersion: networking.gke.io/v1\nkind: HealthCheckPolicy\nmetadata: {name: qwen-pool, namespace: models}\n"
        'spec:\n  targetRef: {group: "", kind: Service, name: qwen-inference-pool-ip-24a13a90}\n',
        unknown="spec.targetRef.name",
    ),
    good=Example(
        "apiVersion: networking.gke.io/v1\nkind: HealthCheckPolicy\nmetadata: {name: qwen-pool, namespace: models}\n"
        "spec:\n  targetRef: {group: inference.networking.k8s.io, kind: InferencePool, name: qwen-inference-pool}\n",
    ),
)

RULES = (ROUTE_TIMEOUTS, REFUSED_FEATURES, UNCLAIMED_FEATURES, POOL_GROUP, GENERATED_TARGET)
