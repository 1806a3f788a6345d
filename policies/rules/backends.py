"""Routes of GKE's Gateway in a program, their backends, and targets of policies. Values that are not known yet are
noted, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from llmd_gke.gateways.gateway import Proxies
from llmd_gke.gateways.gke import CLASS_PREFIX
from llmd_gke.gateways.gke_policies import BACKENDS
from llmd_gke.gateways.proxies import PROXIES
from llmd_gke.rules import routes
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Unknown
from policies.rules.kinds import GATEWAY, GATEWAY_CLASS, HTTP_ROUTE, LLM_SERVICE, LLM_SERVICE_CONFIG, POOL, Kind
from policies.rules.rule import Parameter, ParameterValues, Program, StackFinding, Subject, about

OTHER_GATEWAYS = Parameter(
    "otherGateways",
    (),
    "Gateways other than GKE's, as NAME or NAMESPACE/NAME: routes attached only to these are not checked",
)
ROUTE_KINDS = (HTTP_ROUTE, LLM_SERVICE, LLM_SERVICE_CONFIG)


@dataclass(frozen=True)
class BackendReference:
    """The target of a policy: an InferencePool, a Service, or one that is imported from another cluster."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


def _text(node: Input, default: str | None = "") -> str | None:
    """The text, or the default if it is missing; ``None`` if it is not known yet, which is noted."""
    value = node.value
    if isinstance(value, Unknown):
        node.notes.note_unknown(node.path)
        return None
    return value if isinstance(value, str) else default


def _other_classes(program: Program) -> set[str]:
    """Names of the program's Gateways whose class is not GKE's, or is not known yet."""
    classes: set[str] = set()
    for gateway in program.of(GATEWAY):
        name = _text(gateway.spec.get("gatewayClassName"), CLASS_PREFIX)
        if name is None or not name.startswith(CLASS_PREFIX):
            namespace = gateway.namespace
            classes.add(gateway.name if namespace is None else f"{namespace}/{gateway.name}")
    return classes


def proxies_of(program: Program, name: str | None) -> Proxies | None:
    """The proxies in the cluster that serve a GatewayClass: their own, or one of the program with their controller."""
    controllers = [one.spec.get("controllerName").text() for one in program.of(GATEWAY_CLASS) if one.name == name]
    return next((one for one in PROXIES.values() if name == one.gateway_class or one.controller in controllers), None)


def with_other_classes(program: Program, settings: ParameterValues) -> ParameterValues:
    """The settings, with the program's own Gateways of other classes among ``otherGateways``."""
    names = (*settings.texts("otherGateways"), *sorted(_other_classes(program)))
    return ParameterValues({**settings.values, "otherGateways": names}, settings.stack)


def route_of(subject: Subject) -> Input:
    """The route in an object of one of :data:`ROUTE_KINDS`."""
    return subject.spec if subject.kind == HTTP_ROUTE else routes.inline_route(subject.spec)


def is_elsewhere(subject: Subject, settings: ParameterValues) -> bool:
    """Whether the configuration lists the object's Gateways as not GKE's, or may do so once all values are known."""
    parents = [*route_of(subject).get("parentRefs").each()]
    if subject.kind != HTTP_ROUTE:
        parents += subject.spec.get("router", "gateway", "refs").each()
    others = settings.texts("otherGateways")
    beside = bool(others) and any(parent.get("namespace").value is None for parent in parents)
    return routes.belongs_elsewhere(parents, subject.namespace if beside else "", others)


def at_gke(
    check: Callable[[Subject], Iterator[Finding]], *kinds: Kind
) -> Callable[[Program, ParameterValues], Iterator[StackFinding]]:
    """Turns a check of a route, or of what has one, into one of the program's objects of these kinds at Gateways of
    GKE, or at Gateways it does not have.
    """

    def checked(program: Program, settings: ParameterValues) -> Iterator[StackFinding]:
        others = with_other_classes(program, settings)
        for subject in program.of(*kinds):
            if not is_elsewhere(subject, others):
                yield from about(subject, check(subject))

    return checked


def backend_of(reference: Input, route: Subject) -> BackendReference | None:
    """The backend that a route refers to; ``None`` if it is of another kind or not known yet."""
    kind, name = _text(reference.get("kind"), "Service"), _text(reference.get("name"))
    if not kind or kind not in BACKENDS or not name:
        return None
    namespace = route.namespace_of(reference)
    return BackendReference(kind, namespace, name) if namespace else None


def served(program: Program, settings: ParameterValues) -> dict[BackendReference, Subject]:
    """Every backend of a route that GKE's Gateway serves, with the object that refers to it.

    Backends whose name or namespace is not known yet are omitted, and the unknown part is noted.
    """
    served_by: dict[BackendReference, Subject] = {}
    elsewhere: set[BackendReference] = set()
    own_settings = with_other_classes(program, settings)
    for route in program.of(HTTP_ROUTE, LLM_SERVICE):
        others = is_elsewhere(route, own_settings)
        for rule in route_of(route).get("rules").each():
            for reference in rule.get("backendRefs").each():
                backend = backend_of(reference, route)
                if backend is not None and others:
                    elsewhere.add(backend)
                elif backend is not None:
                    served_by.setdefault(backend, route)
    for pool in program.of(POOL):
        identity = pool.identity
        if identity is not None and (backend := BackendReference("InferencePool", *identity)) not in elsewhere:
            served_by.setdefault(backend, pool)
    return served_by


def aimed_at(policy: Subject) -> BackendReference | None:
    """The target of a policy; ``None`` if it is not known."""
    reference = policy.spec.get("targetRef")
    name, kind = _text(reference.get("name")), _text(reference.get("kind"))
    namespace = policy.namespace
    return BackendReference(kind, namespace, name) if name and kind and namespace else None
