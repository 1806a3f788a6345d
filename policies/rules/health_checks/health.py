"""Backends: each has the right health check, and a timeout that does not cut off long answers."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.gateways import gke
from llmd_gke.gateways.gke import DEFAULT_BACKEND_TIMEOUT_SECONDS
from llmd_gke.gateways.gke_policies import FIELDS, TARGETS
from llmd_gke.rules import health
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Unknown
from policies.rules import kinds
from policies.rules.backends import OTHER_GATEWAYS, BackendReference, aimed_at, served
from policies.rules.reach import Reach
from policies.rules.rule import Parameter, ParameterValues, Program, Rule, StackFinding, Subject

CRD = "https://github.com/GoogleCloudPlatform/gke-gateway-api/blob/main/config/crd/networking.gke.io_"
POLICY_CHART = (
    "https://github.com/llm-d/llm-d-router/blob/v0.10.0/config/charts/llm-d-router-gateway/templates/gke.yaml"
)


def _shape(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    spec, kind = subject.spec, subject.kind.name
    yield from health.known_fields(kind, spec)
    if subject.partial:
        return
    targets = list(spec.get("targetRefs").each()) if "targetRefs" in FIELDS[kind] else [spec.get("targetRef")]
    for target in targets if kind in TARGETS else ():
        yield from health.target(target, TARGETS[kind])
    if subject.kind == kinds.HEALTH_CHECK:
        yield from health.health_check(spec)
    elif subject.kind == kinds.BACKEND_POLICY:
        yield from health.backend_policy(spec)
    written = subject.spec.get("targetRef", "namespace")
    if written.present():
        yield from health.same_namespace(written, subject.namespace)


def _model(subject: Subject, settings: ParameterValues) -> Iterator[Finding]:
    if not subject.partial:
        yield from health.model_server(subject.spec, settings.texts("protocols"))


def _policies(program: Program, kind: kinds.Kind) -> tuple[set[BackendReference], list[str]]:
    """Targets of the policies of a kind, and the reasons why a missing one may still exist."""
    targets = [(policy, aimed_at(policy)) for policy in program.of(kind)]
    unknown = [f"the target of {policy.label} is not known yet" for policy, target in targets if target is None]
    hidden = [f"{label} may contain it, but the engine does not show its objects" for label in program.unrendered]
    return {target for _, target in targets if target is not None}, [*unknown, *hidden]


def _missing_check(program: Program, settings: ParameterValues) -> Iterator[StackFinding]:
    targets, doubts = _policies(program, kinds.HEALTH_CHECK)
    for backend, origin in served(program, settings).items():
        if backend not in targets:
            finding = Finding(
                "health-check-missing",
                f"{backend} is a backend of GKE's Gateway, but this program has no HealthCheckPolicy for it: GKE "
                "requests / on the serving port and treats the backend as unhealthy (no healthy upstream)",
                fix=f"add a HealthCheckPolicy in namespace {backend.namespace} with targetRef kind {backend.kind}, "
                f"name {backend.name}",
            )
            yield StackFinding(origin, finding, "; ".join(doubts))


def _missing_timeout(program: Program, settings: ParameterValues) -> Iterator[StackFinding]:
    policies = list(program.of(kinds.BACKEND_POLICY))
    _, doubts = _policies(program, kinds.BACKEND_POLICY)
    timed: set[BackendReference] = set()
    for policy in policies:
        target, timeout = aimed_at(policy), policy.spec.get("default", "timeoutSec")
        if target is None:
            continue
        if isinstance(timeout.value, Unknown):
            timeout.notes.note_unknown(timeout.path)
            timed.add(target)
        elif (timeout.integer() or 0) >= settings.number("minimumSeconds"):
            timed.add(target)
    for backend, origin in served(program, settings).items():
        if backend.kind == "InferencePool" and backend not in timed:
            finding = Finding(
                "backend-timeout",
                f"{backend} has no GCPBackendPolicy with a timeout: GKE answers 504 after "
                f"{DEFAULT_BACKEND_TIMEOUT_SECONDS} s, even during a long generation",
                allowed=f"spec.default.timeoutSec of at least {settings.number('minimumSeconds')}",
                fix=f"add a GCPBackendPolicy in namespace {backend.namespace} with targetRef kind InferencePool, name "
                f"{backend.name} and timeoutSec: 600",
            )
            yield StackFinding(origin, finding, "; ".join(doubts))


def _one_policy(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    reach = Reach(program)
    seen: dict[tuple[kinds.Kind, str], Subject] = {}
    for policy in program.of(*kinds.GKE_POLICIES, *kinds.ENVOY_POLICIES):
        targets = [f"{kind} {'/'.join(name)} {section}".strip() for kind, name, section in reach.targets(policy)]
        for target in () if policy.partial else targets:
            first = seen.setdefault((policy.kind, target), policy)
            if first is not policy and (first.namespace, first.name) != (policy.namespace, policy.name):
                finding = Finding(
                    "one-policy-per-target",
                    f"{first.label} also targets {target}: only the oldest policy applies, and the other one is marked "
                    "Conflicted",
                    fix="merge the two policies",
                )
                yield StackFinding(policy, finding)


HEALTH_SHAPE = Rule(
    name="health-check-shape",
    title="Policies of GKE's Gateway are valid in every version of their CRDs",
    why="A field that a CRD does not have is dropped or rejected. The CRDs require `targetRef.group`, the block that "
    "belongs to the type, and since 2026-03, by CEL rules, a consistent port specification and a timeout that does not "
    "exceed the interval. Thresholds, draining time, sample rate and rate per endpoint have limits, and a policy can "
    "only target objects in its own namespace. An incomplete policy is rejected or does not attach.",
    sources=(f"{CRD}healthcheckpolicies.yaml", f"{CRD}gcpbackendpolicies.yaml"),
    kinds=tuple(kinds.Kind(gke.GROUP, kind) for kind in FIELDS),
    check_object=_shape,
    opt_out="For a field that is newer than the pack, make this rule advisory.",
)

MODEL_HEALTH = Rule(
    name="model-health-check",
    title="Health checks of model servers request /health over HTTP",
    why="vLLM answers 404 at `/`, so with GKE's default path every backend stays UNHEALTHY while its pod is Ready "
    "(`no healthy upstream`). KServe's backends use plain HTTP unless its TLS option is enabled: an HTTPS check "
    "makes vLLM log `Invalid HTTP request received`.",
    sources=(POLICY_CHART, "https://github.com/kserve/kserve/issues/5531"),
    kinds=(kinds.HEALTH_CHECK,),
    check_object=_model,
    parameters=(Parameter("protocols", ("HTTP",), "Types of health check that the model servers support"),),
    opt_out="For model servers that use HTTPS or gRPC, set `protocols`.",
)

MISSING_CHECK = Rule(
    name="health-check-missing",
    title="Every backend of GKE's Gateway has a HealthCheckPolicy",
    why="KServe creates none, and GKE's default requests `/`. The rule collects InferencePools and Services from "
    "all routes of the program but those whose Gateways are in it with another class; a Gateway that is not in it "
    "counts as GKE's.",
    sources=(POLICY_CHART,),
    kinds=(kinds.HTTP_ROUTE, kinds.LLM_SERVICE, kinds.POOL, kinds.GATEWAY, kinds.HEALTH_CHECK),
    check_program=_missing_check,
    severity="critical",
    parameters=(OTHER_GATEWAYS,),
    opt_out="If another program creates the policies, make this rule advisory. For routes of other "
    "Gateways that are not in it, set `otherGateways`.",
)

BACKEND_TIMEOUT = Rule(
    name="backend-timeout",
    title="Every InferencePool behind GKE's Gateway has a backend timeout",
    why="GKE ends any response after 30 s with 504 unless a GCPBackendPolicy sets another timeout; routes cannot "
    "set one (GWCER104).",
    sources=(POLICY_CHART, f"{CRD}gcpbackendpolicies.yaml"),
    kinds=(kinds.HTTP_ROUTE, kinds.LLM_SERVICE, kinds.POOL, kinds.GATEWAY, kinds.BACKEND_POLICY),
    check_program=_missing_timeout,
    parameters=(
        OTHER_GATEWAYS,
        Parameter("minimumSeconds", DEFAULT_BACKEND_TIMEOUT_SECONDS + 1, "Minimum timeout in seconds"),
    ),
    opt_out="As for `health-check-missing`.",
)

ONE_POLICY = Rule(
    name="one-policy-per-target",
    title="A backend, Gateway or route has one policy of each kind",
    why="Of two policies for one target GKE applies the oldest, and so does Envoy Gateway; the other is marked "
    "Conflicted and has no effect. Which of two SecurityPolicies that is decides whether keys are asked for.",
    sources=(
        "https://cloud.google.com/kubernetes-engine/docs/how-to/configure-gateway-resources",
        "https://gateway.envoyproxy.io/docs/concepts/gateway_api_extensions/security-policy/",
    ),
    kinds=(*kinds.GKE_POLICIES, *kinds.ENVOY_POLICIES, kinds.GATEWAY, kinds.HTTP_ROUTE),
    check_program=_one_policy,
    severity="medium",
)
