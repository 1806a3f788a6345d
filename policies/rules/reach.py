"""Ways to model servers in a program: through Gateways, routes of every kind, mirrors, inline routes and Services."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from llmd_gke.catalog import front_door as facts
from llmd_gke.catalog import kserve
from llmd_gke.gateways.gke import IMPORT_KIND
from llmd_gke.gateways.gke_policies import BACKENDS
from llmd_gke.rules import front_door, gateway, open_gateway, pods, routes
from llmd_gke.rules.inputs import Input
from policies.rules import kinds
from policies.rules.backends import BackendReference, backend_of, proxies_of
from policies.rules.inference_pools.pools import labels_of, matches, selector, serves
from policies.rules.rule import Program, Subject

Name = tuple[str, str]

SERVERS = (kinds.LLM_SERVICE, kinds.DEPLOYMENT, kinds.STATEFUL_SET, kinds.WORKER_SET, kinds.POD)
KINDS = (
    kinds.AI_ROUTE,
    kinds.HTTP_ROUTE,
    *kinds.OTHER_ROUTES,
    kinds.LLM_SERVICE_CONFIG,
    *kinds.LISTENER_SETS,
    *SERVERS,
    kinds.POOL,
    kinds.SERVICE,
    kinds.BACKEND,
    kinds.AI_BACKEND,
)
GENERATED = re.compile(r".+-ips?-(?=[a-f]*\d)[0-9a-f]{4,}|.+-(kserve|workload).*-?[0-9a-f]{32}.*")
"""Services that GKE makes for a pool, and KServe for a model whose name is long."""
SERVER_IMAGE = re.compile(r"/(vllm|sglang|text-generation-inference|jetstream|tgi)\b|\bvllm-")
"""Names of images that serve models, in a container without arguments that say so."""
MOST_HOPS = 4


@dataclass(frozen=True)
class Way:
    """A reference of a route that leads to model servers.

    ``gateways``: the route's parents; ``None`` among them for one that is not known. ``answering``: the backends whose
    own policies are asked before the servers get a request: of a mirror those that the rule answers from, since no
    policy is asked for a copy. ``kept``: it is marked as kept beside a front door, and there is one.
    """

    route: Subject
    reference: Input
    gateways: frozenset[Name | None]
    answering: frozenset[BackendReference]
    kept: bool
    leads_to_servers: bool = True
    """``False``: to the front door, which does not ask who calls."""


@dataclass(frozen=True)
class Reach:
    """The ways of a program, and the Gateways of its front door."""

    program: Program

    @cached_property
    def has_door(self) -> bool:
        """Whether the program has a front door."""
        return any(self.program.of(kinds.AI_ROUTE))

    @cached_property
    def doors(self) -> frozenset[Name]:
        """The Gateways of the front door."""
        return frozenset(door for route in self.program.of(kinds.AI_ROUTE) for door in self.parents(route) if door)

    @cached_property
    def asking(self) -> frozenset[tuple[str, Name]]:
        """Kind and name of everything for which a SecurityPolicy of Envoy Gateway asks who calls."""
        return frozenset(
            (kind, name)
            for policy in self.program.of(kinds.SECURITY_POLICY)
            if open_gateway.asks_who_calls(policy.spec)
            for kind, name, section in self.targets(policy)
            if not section
        )

    @property
    def doors_ask(self) -> bool:
        """Whether every Gateway of the front door asks who calls."""
        return bool(self.asking) and all(("Gateway", door) in self.asking for door in self.doors)

    def asks(self, route: Subject) -> bool:
        """Whether a SecurityPolicy of the route itself asks who calls."""
        return route.identity is not None and (route.kind.name, route.identity) in self.asking

    def targets(self, policy: Subject) -> Iterator[tuple[str, Name, str]]:
        """Kind, name and section of what a policy of Envoy Gateway is attached to, by name or by labels."""
        namespace = policy.namespace
        if namespace is None:
            return
        for target in front_door.targets(policy.spec):
            kind, name = target.get("kind").text(), target.get("name").text()
            if kind and name:
                yield kind, (namespace, name), target.get("sectionName").text() or ""
        for chosen in policy.spec.get("targetSelectors").each():
            wanted = chosen.get("matchLabels")
            expressions = list(chosen.get("matchExpressions").each())
            for subject in self.program.of(kinds.GATEWAY, kinds.HTTP_ROUTE, *kinds.OTHER_ROUTES):
                named = chosen.get("kind").text() == subject.kind.name and subject.namespace == namespace
                labels = labels_of(subject.node.get("metadata", "labels"))
                if named and not expressions and labels_of(wanted).items() <= labels.items() and subject.identity:
                    yield subject.kind.name, subject.identity, ""

    def ways(self) -> Iterator[Way]:
        """Every reference of a route to model servers, or to a front door that does not ask who calls."""
        for route in self.program.of(kinds.AI_ROUTE, kinds.HTTP_ROUTE, *kinds.OTHER_ROUTES, kinds.LLM_SERVICE):
            kept = self.has_door and front_door.is_kept(route.node)
            specs = list(self._specs(route))
            parents = frozenset(parent for spec in (route.spec, *specs) for parent in self.parents(route, spec))
            for rule in (rule for spec in specs for rule in spec.get("rules").each()):
                written = list(rule.get("backendRefs").each())
                own = frozenset(backend for one in written if (backend := self._backend(one, route)) is not None)
                for reference in (*written, *gateway.mirrors_of(rule)):
                    backend = self._backend(reference, route)
                    if backend is None:
                        continue
                    answering = frozenset({backend}) if reference in written or not own else own
                    if self._leads_to_servers(backend):
                        yield Way(route, reference, parents, answering, kept)
                    elif self.has_door and not self.doors_ask and self._may_be_door(backend):
                        yield Way(route, reference, parents, answering, kept, leads_to_servers=False)
            made = route.spec.get("router", "route")
            if (
                route.kind == kinds.LLM_SERVICE
                and made.present()
                and not specs
                and not list(made.get("http", "refs").each())
            ):
                pool = BackendReference("InferencePool", route.namespace or "", f"{route.name}{kserve.POOL_SUFFIX}")
                yield Way(route, made, parents, frozenset({pool}), kept)

    def is_at_door(self, kind: str, name: Name) -> bool:
        """Whether the target of a policy is a route of the front door, or may be one: it is not in this program."""
        if not kind.endswith("Route"):
            return False
        named = [
            one
            for one in self.program.of(kinds.HTTP_ROUTE, *kinds.OTHER_ROUTES)
            if one.kind.name == kind and one.identity == name
        ]
        return not named or any(not self.doors.isdisjoint(self.parents(route)) for route in named)

    def _specs(self, route: Subject) -> Iterator[Input]:
        """The route, or for a service its inline ones, also those of its configurations."""
        if route.kind != kinds.LLM_SERVICE:
            yield route.spec
            return
        yield from (spec for one in self._with_configs(route) if (spec := routes.inline_route(one)).value is not None)

    def _with_configs(self, service: Subject) -> Iterator[Input]:
        yield service.spec
        names = {ref.get("name").text() for ref in service.spec.get("baseRefs").each()}
        for config in self.program.of(kinds.LLM_SERVICE_CONFIG):
            if config.name in names:
                yield config.spec

    def parents(self, route: Subject, spec: Input | None = None) -> Iterator[Name | None]:
        """The Gateways of a route, or of its ``spec`` inside a service; ``None`` for listeners of other programs."""
        spec = route.spec if spec is None else spec
        written = [*spec.get("parentRefs").each()]
        if route.kind == kinds.AI_ROUTE:
            written += front_door.targets(spec)
        if route.kind == kinds.LLM_SERVICE and spec.path == "spec":
            written = [ref for one in self._with_configs(route) for ref in one.get("router", "gateway", "refs").each()]
        for parent in written:
            kind = parent.get("kind").text() or "Gateway"
            namespace, name = route.namespace_of(parent), parent.get("name").text()
            if namespace is None or name is None or kind not in ("Gateway", "ListenerSet", "XListenerSet"):
                continue
            yield (namespace, name) if kind == "Gateway" else self._owner((namespace, name))

    def _owner(self, listeners: Name) -> Name | None:
        for more in self.program.of(*kinds.LISTENER_SETS):
            if more.identity == listeners:
                parent = more.spec.get("parentRef")
                namespace, name = more.namespace_of(parent), parent.get("name").text()
                return (namespace, name) if namespace and name else None
        return None

    def _backend(self, reference: Input, route: Subject) -> BackendReference | None:
        default = "AIServiceBackend" if route.kind == kinds.AI_ROUTE else "Service"
        kind = default if reference.get("kind").value is None else reference.get("kind").text()
        if kind is None or kind in BACKENDS:
            return backend_of(reference, route)
        for one in self.program.of(kinds.BACKEND, kinds.AI_BACKEND):
            named = one.name == reference.get("name").text() and one.namespace == route.namespace
            if one.kind.name != kind or not named:
                continue
            if one.kind == kinds.AI_BACKEND and route.kind != kinds.AI_BACKEND:
                return self._backend(one.spec.get("backendRef"), one)
            for endpoint in one.spec.get("endpoints").each():
                if (service := _service_at(endpoint.get("fqdn", "hostname").text() or "")) is not None:
                    return service
        return None

    def _leads_to_servers(self, backend: BackendReference, hops: int = MOST_HOPS) -> bool:
        if backend.kind in ("InferencePool", IMPORT_KIND) or backend.name.endswith(kserve.WORKLOAD_SUFFIX):
            return True
        service = self._services.get((backend.namespace, backend.name))
        if service is None:
            return GENERATED.fullmatch(backend.name) is not None
        alias = _service_at(service.spec.get("externalName").text() or "")
        if alias is not None and hops:
            return self._leads_to_servers(alias, hops - 1)
        return self._selects_servers(service.namespace, labels_of(service.spec.get("selector")))

    def _may_be_door(self, backend: BackendReference) -> bool:
        """Whether a Service may be that of the door's proxies: Envoy Gateway makes it, unless the program has one."""
        service = self._services.get((backend.namespace, backend.name))
        if service is None:
            return True
        selected = labels_of(service.spec.get("selector")).items()
        return any(facts.GATEWAY_GROUP in key or text.startswith("envoy") for key, text in selected)

    def _selects_servers(self, namespace: str | None, selected: dict[str, str]) -> bool:
        component = selected.get(kserve.COMPONENT, "")
        if selected.get(kserve.OWN_COMPONENT) == kserve.WORKLOAD or component.startswith(f"{kserve.PART}-workload"):
            return True
        if selected.get(kserve.PART_OF) == kserve.PART and component in ("", kserve.LEADER):
            return True
        pools = (selector(pool) for pool in self.program.of(kinds.POOL) if pool.namespace == namespace)
        if any(pool and pool.items() <= selected.items() for pool in pools):
            return True
        return any(matches(selected, labels) for where, labels in self._servers if where == namespace)

    @cached_property
    def _servers(self) -> list[tuple[str | None, dict[str, str]]]:
        found: list[tuple[str | None, dict[str, str]]] = []
        for subject in self.program.of(*SERVERS):
            if (served := serves(subject)) is not None:
                found.append((subject.namespace, served[0]))
                continue
            template = subject.node if subject.kind == kinds.POD else subject.spec.get("template")
            pod = template.get("spec")
            if subject.kind != kinds.LLM_SERVICE and (pods.accelerator(pod) is not None or _runs_server(pod)):
                found.append((subject.namespace, labels_of(template.get("metadata", "labels"))))
        return found

    @cached_property
    def _services(self) -> dict[Name, Subject]:
        services = self.program.of(kinds.SERVICE)
        return {one.identity: one for one in services if one.identity is not None and not one.partial}

    def faces_the_internet(self, gate: Subject) -> bool:
        """Whether a Gateway has a public address: by GKE's class, or by the Service that Envoy Gateway makes for it."""
        if open_gateway.faces_the_internet(gate.node):
            return True
        name = gate.spec.get("gatewayClassName").text()
        if proxies := proxies_of(self.program, name):
            return open_gateway.proxies_face_the_internet(gate.node, proxies)
        classes = [one for one in self.program.of(kinds.GATEWAY_CLASS) if one.name == name]
        if not any(one.spec.get("controllerName").text() == facts.CONTROLLER_NAME for one in classes):
            return False
        own = gate.spec.get("infrastructure", "parametersRef")
        used = own if own.value is not None else classes[0].spec.get("parametersRef")
        if used.value is None:
            return True
        return any(
            any(front_door.public_proxies(proxy.spec))
            for proxy in self.program.of(kinds.ENVOY_PROXY)
            if proxy.name == used.get("name").text()
        )


def _runs_server(pod: Input) -> bool:
    return any(
        SERVER_IMAGE.search(container.get("image").text() or "") or "--model" in pods.arguments(container)
        for container in pod.get("containers").each()
    )


def _service_at(host: str) -> BackendReference | None:
    name, _, rest = host.partition(".")
    namespace, _, domain = rest.partition(".")
    # The shortest form is one that the pods' search domains complete.
    inside = not domain or domain.startswith("svc")
    return BackendReference("Service", namespace, name) if namespace and inside else None
