"""Gateways that do not authenticate callers."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.rules import front_door, open_gateway, routes
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from policies.rules.backends import aimed_at, backend_of
from policies.rules.routes import route_of
from policies.rules.rule import (
    AI_ROUTE,
    BACKEND_POLICY,
    GATEWAY,
    HTTP_ROUTE,
    SECURITY_POLICY,
    SERVICE,
    Program,
    Rule,
    Settings,
    StackFinding,
    Subject,
)

FIX = (
    "put the models behind a front door, attach a GCPBackendPolicy with iap or securityPolicy to the backend, or set "
    f"the annotation {open_gateway.OPEN_ANNOTATION}: 'true' on the Gateway if this is meant"
)


def _open(program: Program, _settings: Settings) -> Iterator[StackFinding]:
    routed = [route for route in program.of(HTTP_ROUTE, SERVICE) if not front_door.is_kept(route.node)]
    guarded = {
        target
        for policy in program.of(BACKEND_POLICY)
        if open_gateway.guards_backend(policy.spec) and (target := aimed_at(policy)) is not None
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
    kinds=(GATEWAY, HTTP_ROUTE, SERVICE, BACKEND_POLICY, SECURITY_POLICY, AI_ROUTE),
    check_stack=_open,
    severity="critical",
    opt_out=f"The setting `gateway.open` allows an open gateway explicitly: it sets the annotation "
    f"`{open_gateway.OPEN_ANNOTATION}` on the Gateway.",
)

RULES = (OPEN,)
