"""Routes: features for which GKE rejects a route and then applies no further change to its Gateway."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from llmd_gke.catalog import upstream, versions
from llmd_gke.gateways import gke_routes
from llmd_gke.rules import gateway, routes
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from policies.rules.backends import OTHER_GATEWAYS, ROUTE_KINDS, at_gke, route_of
from policies.rules.kinds import (
    ALPHA_POOL,
    ANY_POLICY,
    BACKEND_POLICY,
    GATEWAY,
    HEALTH_CHECK,
    LLM_SERVICE,
    LLM_SERVICE_CONFIG,
)
from policies.rules.rule import ParameterValues, Program, Rule, StackFinding, Subject

REPORTS = gke_routes.REPORTS


def _at_gke(
    check: Callable[[Input], Iterator[Finding]],
) -> Callable[[Program, ParameterValues], Iterator[StackFinding]]:
    return at_gke(lambda route: check(route_of(route)), *ROUTE_KINDS)


def _references(subject: Subject) -> Iterator[Input]:
    if subject.kind in ROUTE_KINDS:
        yield from routes.backends(route_of(subject))
    else:
        yield subject.spec.get("targetRef")


def _pool_group(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    if subject.kind == ALPHA_POOL:
        yield Finding(
            "inference-pool-group",
            "this InferencePool is of the deprecated v1alpha2 group: GKE does not have its CRD",
            allowed="apiVersion: inference.networking.k8s.io/v1",
            fix="create a v1 InferencePool (targetPorts, endpointPickerRef)",
        )
    else:
        yield from routes.pool_groups(_all_references(subject))


def _all_references(subject: Subject) -> Iterator[Input]:
    """References in the known fields, and in objects of any kind those recognized by their shape."""
    is_known_kind = subject.kind in (*ROUTE_KINDS, HEALTH_CHECK, BACKEND_POLICY)
    by_path = {reference.path: reference for reference in _references(subject)} if is_known_kind else {}
    by_path |= {reference.path: reference for reference in gateway.targets(subject.node)}
    if subject.kind in (LLM_SERVICE, LLM_SERVICE_CONFIG):
        by_path |= {reference.path: reference for reference in gateway.targets_in(route_of(subject))}
    yield from by_path.values()


def _generated(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    for reference in _all_references(subject):
        yield from gateway.generated_target(reference)


ROUTE_TIMEOUTS = Rule(
    name="route-timeouts",
    title="Routes of GKE's Gateway have no timeouts",
    why="GKE answers `GWCER104: HTTPRoute is misconfigured, err: Timeouts are not supported`, also for `0s`, and "
    "after one rejected route GKE applies no further change to its Gateway. KServe sets timeouts in every route that "
    "it creates itself, and its `disableHTTPRouteTimeout` does not apply to LLMInferenceService.",
    sources=("https://github.com/kserve/kserve/issues/5707", "https://github.com/kserve/kserve/issues/5311", REPORTS),
    kinds=(*ROUTE_KINDS, GATEWAY),
    check_program=_at_gke(routes.timeouts),
    severity="critical",
    parameters=(OTHER_GATEWAYS,),
    opt_out="For routes of a Gateway that is another's and not in the program, list the Gateway in `otherGateways`.",
)

REFUSED_FEATURES = Rule(
    name="route-refused-features",
    title="Routes of GKE's Gateway use no feature that GKE rejects",
    why="Retry, regular-expression paths, method matches, ReplaceFullPath, redirects with a port or with 303, 307, "
    "308, filters inside backendRefs and CORS are rejected, and after one rejected route no change to the "
    "Gateway or its other routes takes effect.",
    sources=(REPORTS, "https://github.com/kserve/kserve/issues/5319"),
    kinds=(*ROUTE_KINDS, GATEWAY),
    check_program=_at_gke(routes.refused_features),
    severity="critical",
    parameters=(OTHER_GATEWAYS,),
    opt_out="For routes of a Gateway that is another's and not in the program, list the Gateway in `otherGateways`.",
)

UNCLAIMED_FEATURES = Rule(
    name="route-unclaimed-features",
    title="Routes of GKE's Gateway use only features that GKE reports as supported",
    why="Rule names, ports in parentRefs, several mirrors, query parameters (before GKE 1.35.2), regular expressions "
    "for headers and session persistence are not listed as supported in GKE's conformance reports. It is unknown "
    "whether GKE rejects or ignores them.",
    sources=(REPORTS,),
    kinds=(*ROUTE_KINDS, GATEWAY),
    check_program=_at_gke(routes.unclaimed_features),
    level="advisory",
    severity="low",
    parameters=(OTHER_GATEWAYS,),
)

POOL_GROUP = Rule(
    name="inference-pool-group",
    title="References use the group of their kind, for InferencePools the v1 group",
    why=f"GKE provides the CRD of `inference.networking.k8s.io/v1` (from {versions.gke_floor()} on) but none for "
    "the older `inference.networking.x-k8s.io`; a reference without a group means a core kind, and none is in a group "
    "`core`. In each case the load balancer has no backend.",
    sources=(upstream.inference_extension("config/crd/bases"), "https://github.com/kserve/kserve/issues/5050"),
    kinds=(*ROUTE_KINDS, HEALTH_CHECK, BACKEND_POLICY, ALPHA_POOL, ANY_POLICY),
    check_object=_pool_group,
)

GENERATED_TARGET = Rule(
    name="generated-service-target",
    title="Nothing targets a Service whose name GKE generates",
    why="For an InferencePool GKE creates a headless Service `POOL-ip-HASH`. A policy on it never attaches "
    "(GatewayNotFound), and its name changes when it is recreated. HealthCheckPolicy and GCPBackendPolicy "
    "accept the InferencePool itself as target.",
    sources=(
        "https://github.com/kubernetes-sigs/gateway-api-inference-extension/blob/v1.0.0/config/charts/inferencepool/"
        "templates/gke.yaml",
    ),
    kinds=(*ROUTE_KINDS, HEALTH_CHECK, BACKEND_POLICY, ANY_POLICY),
    check_object=_generated,
)
