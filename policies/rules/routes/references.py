"""References between objects of a program: routes that listeners admit, and grants across namespaces."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog import kserve
from llmd_gke.rules import gateway, references, routes
from llmd_gke.rules.inputs import Input
from llmd_gke.rules.references import Reference
from policies.rules.inference_pools.pools import labels_of
from policies.rules.kinds import (
    AI_ROUTE,
    GATEWAY,
    HTTP_ROUTE,
    LISTENER_SETS,
    LLM_SERVICE,
    NAMESPACE,
    OTHER_ROUTES,
    POOL,
    SERVICE,
    Kind,
)
from policies.rules.rule import ParameterValues, Program, Rule, StackFinding, Subject, about

GRANT = Kind("gateway.networking.k8s.io", "ReferenceGrant")
SECRET = Kind("", "Secret")
ROUTES = (HTTP_ROUTE, *OTHER_ROUTES, AI_ROUTE)
WITH_LISTENERS = (GATEWAY, *LISTENER_SETS)
MADE = (AI_ROUTE, LLM_SERVICE)
"""Objects of which controllers make an HTTPRoute."""
API = "https://gateway-api.sigs.k8s.io/api-types/"


def _granted(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    grants = list(program.of(GRANT))
    targets = {(one.kind.name, one.identity) for one in program.of(POOL, SERVICE, SECRET)}
    for service in program.of(LLM_SERVICE):
        made = (("InferencePool", kserve.POOL_SUFFIX), ("Service", kserve.WORKLOAD_SUFFIX))
        targets |= {(kind, (service.namespace or "", f"{service.name}{suffix}")) for kind, suffix in made}
    for subject in program.of(*ROUTES, LLM_SERVICE, *WITH_LISTENERS):
        reported: set[Reference] = set()
        for node, kind in _references(subject):
            reference = _across(subject, node, kind)
            if reference is None or reference in reported:
                continue
            reported.add(reference)
            if any(reference.granted_by(grant.spec, grant.namespace) for grant in grants):
                continue
            here = (reference.to_kind, (reference.to_namespace, reference.to_name)) in targets
            doubts = [] if here else [f"the program does not make {reference.to_namespace}/{reference.to_name}"]
            doubts += [f"{label} may contain a grant" for label in program.unrendered]
            yield StackFinding(subject, references.not_granted(reference, node.path), "; ".join(doubts))


def _references(subject: Subject) -> Iterator[tuple[Input, str]]:
    """References to backends or certificates, each with the kind that it means if it names none."""
    if subject.kind in WITH_LISTENERS:
        for listener in subject.spec.get("listeners").each():
            yield from ((one, "Secret") for one in listener.get("tls", "certificateRefs").each())
        return
    default = "AIServiceBackend" if subject.kind == AI_ROUTE else "Service"
    for rule in _route(subject).get("rules").each():
        yield from ((one, default) for one in (*rule.get("backendRefs").each(), *gateway.mirrors_of(rule)))


def _route(subject: Subject) -> Input:
    return routes.inline_route(subject.spec) if subject.kind == LLM_SERVICE else subject.spec


def _parents(subject: Subject) -> Iterator[Input]:
    if subject.kind in LISTENER_SETS:
        yield subject.spec.get("parentRef")
    yield from _route(subject).get("parentRefs").each()
    http = subject.spec.get("router", "route", "http") if subject.kind == LLM_SERVICE else None
    if http is not None and http.present() and not any(http.get("refs").each()):
        yield from subject.spec.get("router", "gateway", "refs").each()


def _across(subject: Subject, node: Input, default: str) -> Reference | None:
    """The reference, if it leaves the namespace and all of it is known."""
    namespace = node.get("namespace").text()
    own, name = subject.namespace, node.get("name").text()
    origin = HTTP_ROUTE if subject.kind == LLM_SERVICE else subject.kind
    if not namespace or own is None or name is None or namespace == own:
        return None
    group, kind = node.get("group"), node.get("kind")
    if (group.value is not None and group.text() is None) or (kind.value is not None and kind.text() is None):
        return None
    return Reference(
        group=origin.group,
        kind=origin.name,
        namespace=own,
        to_group=group.text() or "",
        to_kind=kind.text() or default,
        to_namespace=namespace,
        to_name=name,
    )


def _admitted(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    gateways = {one.identity: one for one in program.of(GATEWAY) if one.identity is not None and not one.partial}
    spaces = {
        one.name: labels_of(one.node.get("metadata", "labels")) for one in program.of(NAMESPACE) if not one.partial
    }
    for route in program.of(*ROUTES, LLM_SERVICE, *LISTENER_SETS):
        namespace = route.namespace
        for parent in _parents(route) if namespace is not None and not route.partial else ():
            where, name = route.namespace_of(parent), parent.get("name").text()
            if parent.get("kind").value not in (None, "Gateway") or name is None or where is None:
                continue
            owner = gateways.get((where, name))
            if owner is None or namespace is None:
                continue
            kind = HTTP_ROUTE if route.kind in MADE else route.kind
            hosts = _route(route).get("hostnames")
            origin = references.Origin(kind.name, namespace, where == namespace, spaces.get(namespace), hosts)
            if route.kind in LISTENER_SETS:
                yield from about(route, references.listeners(owner.node, origin))
            else:
                yield from about(route, references.admission(owner.node, parent, origin))


GRANTS = Rule(
    name="reference-grant",
    title="References to other namespaces are granted",
    why="A route's backend and a listener's certificate may be in another namespace only if a ReferenceGrant there "
    "says so. Otherwise the reference is not resolved, and the load balancer answers 500.",
    sources=(f"{API}referencegrant/",),
    kinds=(*ROUTES, *WITH_LISTENERS, GRANT, POOL, SERVICE, SECRET, LLM_SERVICE),
    check_program=_granted,
    opt_out="If another program makes the grant, make this rule advisory.",
)

ADMISSION = Rule(
    name="route-admission",
    title="A listener of the Gateway admits the route",
    why="Listeners without `allowedRoutes.namespaces` admit routes of their Gateway's namespace only. A route that "
    "none admits has no effect: requests get 404.",
    sources=(f"{API}httproute/#cross-namespace-routing-is-allowed-using-allowedroutes",),
    kinds=(*ROUTES, LLM_SERVICE, *LISTENER_SETS, GATEWAY, NAMESPACE),
    check_program=_admitted,
)
