"""Gateways that do not authenticate callers."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.rules import cloud_armor, front_door, open_gateway, routes
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from policies.rules.backends import aimed_at, backend_of, route_of
from policies.rules.kinds import AI_ROUTE, ARMOR, BACKEND_POLICY, GATEWAY, HTTP_ROUTE, LLM_SERVICE, SECURITY_POLICY
from policies.rules.rule import ParameterValues, Program, Rule, StackFinding, Subject

FIX = (
    "put the models behind a front door, attach a GCPBackendPolicy with iap or securityPolicy to the backend, or set "
    f"the annotation {open_gateway.OPEN_ANNOTATION}: 'true' on the Gateway if this is meant"
)


def _open(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    routed = [route for route in program.of(HTTP_ROUTE, LLM_SERVICE) if not front_door.is_kept(route.node)]
    throttles = {
        name
        for policy in program.of(ARMOR)
        if (name := policy.node.get("name").text()) is not None and not cloud_armor.restricts(policy.node)
    }
    guarded = {
        target
        for policy in program.of(BACKEND_POLICY)
        if open_gateway.guards_backend(policy.spec, throttles) and (target := aimed_at(policy)) is not None
    }
    doors_ask = any(open_gateway.asks_who_calls(policy.spec) for policy in program.of(SECURITY_POLICY))
    models = {"InferencePool"} if doors_ask or not any(program.of(AI_ROUTE)) else {"InferencePool", "Service"}
    for gateway in program.of(GATEWAY):
        if gateway.partial or not open_gateway.faces_the_internet(gateway.node):
            continue
        for route in routed:
            if not _attached(route, gateway):
                continue
            behind = [
                backend
                for rule in route_of(route).get("rules").each()
                for reference in rule.get("backendRefs").each()
                if (backend := backend_of(reference, route)) is not None and backend.kind in models
            ]
            findings: list[Finding] = list(
                open_gateway.open_gateway(
                    external=bool(behind),
                    guarded=guarded.issuperset(behind),
                    meant=open_gateway.is_meant(gateway.node),
                    fix=FIX,
                )
            )
            if findings:
                yield StackFinding(gateway, findings[0])
                break


def _attached(route: Subject, gateway: Subject) -> bool:
    """Whether a route names the Gateway as parent. What is not known yet is noted, and does not count."""
    parents: list[Input] = [
        *route_of(route).get("parentRefs").each(),
        *route.spec.get("router", "gateway", "refs").each(),
    ]
    identity = gateway.identity
    if identity is None:
        return False
    namespace, name = identity
    return bool(parents) and any(
        routes.belongs_elsewhere([parent], route.namespace, [f"{namespace}/{name}"]) for parent in parents
    )


def _armor(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    yield from cloud_armor.policy_rules(subject.node)


def _iap(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    yield from cloud_armor.backend_iap(subject.spec)


OPEN = Rule(
    name="open-gateway",
    title="External Gateways authenticate callers",
    why=(
        "A model server answers everyone who can reach it, and TPU hosts are billed by the hour: scanners find an "
        "open endpoint within hours and use it."
    ),
    sources=(
        "https://docs.vllm.ai/en/latest/usage/security.html",
        "https://cloud.google.com/kubernetes-engine/docs/how-to/configure-gateway-resources",
    ),
    kinds=(GATEWAY, HTTP_ROUTE, LLM_SERVICE, BACKEND_POLICY, SECURITY_POLICY, AI_ROUTE, ARMOR),
    check_stack=_open,
    severity="critical",
    opt_out=f"The setting `gateway.open` allows an open gateway explicitly: it sets the annotation "
    f"`{open_gateway.OPEN_ANNOTATION}` on the Gateway.",
)

ARMOR_RULES = Rule(
    name="cloud-armor-rules",
    title="Security policies of Cloud Armor deny what they do not name",
    why=(
        "Rules that admit address ranges have no effect while the last rule, which every policy has, admits everyone: "
        "that is its action unless the policy says otherwise. Cloud Armor rejects a throttle of 0 or of more than "
        f"{cloud_armor.MOST_REQUESTS_PER_MINUTE:,} requests."
    ),
    sources=(
        "https://cloud.google.com/armor/docs/security-policy-overview",
        "https://cloud.google.com/armor/docs/rate-limiting-overview",
    ),
    kinds=(ARMOR,),
    check_resource=_armor,
)

IAP_CLIENT = Rule(
    name="iap-client",
    title="IAP has an OAuth client",
    why=(
        "GKE's Gateway takes IAP with an OAuth client of your own only; without clientID and oauth2ClientSecret the "
        "policy is not attached, and the backend is as open as before."
    ),
    sources=(
        "https://cloud.google.com/kubernetes-engine/docs/how-to/configure-gateway-resources#configure_iap",
        "https://github.com/GoogleCloudPlatform/gke-gateway-api/issues/57",
    ),
    kinds=(BACKEND_POLICY,),
    check_resource=_iap,
)

RULES = (OPEN, ARMOR_RULES, IAP_CLIENT)
