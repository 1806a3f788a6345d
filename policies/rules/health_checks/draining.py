"""Backends: the load balancer drains as long as the pods behind it."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog import kserve
from llmd_gke.rules import draining, pods
from policies.rules.backends import BackendReference, aimed_at
from policies.rules.inference_pools.pools import labels_of, matches, selector
from policies.rules.kinds import (
    BACKEND_POLICY,
    DEPLOYMENT,
    ENVOY_PROXY,
    LLM_SERVICE,
    LLM_SERVICE_CONFIG,
    POOL,
    SERVICE,
    STATEFUL_SET,
)
from policies.rules.rule import ParameterValues, Program, Rule, StackFinding, Subject, about


def _draining(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    for policy in program.of(BACKEND_POLICY):
        if (target := aimed_at(policy)) is None:
            continue
        behind = [(seconds, owner) for owner, seconds in _behind(program, target) if seconds is not None]
        if behind:
            seconds, owner = max(behind, key=lambda one: one[0])
            yield from about(policy, draining.policy(policy.spec, seconds, owner.label))


def _behind(program: Program, target: BackendReference) -> Iterator[tuple[Subject, int | None]]:
    """What serves the target, and the seconds that it drains."""
    place = (target.kind, target.namespace, target.name)
    for service in program.of(LLM_SERVICE):
        name, namespace = service.name, service.namespace
        if place in (
            ("InferencePool", namespace, kserve.inference_pool(name)),
            ("Service", namespace, kserve.workload_service(name)),
        ):
            used = {reference.get("name").text() for reference in service.spec.get("baseRefs").each()}
            configs = [one for one in program.of(LLM_SERVICE_CONFIG) if one.namespace == namespace and one.name in used]
            for owner in (service, *configs):
                for pod in pods.serving_pods(owner.kind.name, owner.spec):
                    yield service, draining.of_pod(pod, kserve.PRE_STOP_SECONDS)
    for entrance in program.of(SERVICE, POOL):
        if (entrance.kind.name, *(entrance.identity or ())) == place:
            selected = labels_of(entrance.spec.get("selector")) if entrance.kind == SERVICE else selector(entrance)
            for workload in program.of(DEPLOYMENT, STATEFUL_SET):
                template = workload.spec.get("template")
                own = labels_of(template.get("metadata", "labels"))
                if workload.namespace == target.namespace and matches(selected, own):
                    yield workload, draining.of_pod(template.get("spec"))
    for proxy in program.of(ENVOY_PROXY):
        # Its Service is in Envoy Gateway's namespace, or in that of the Gateway.
        service = proxy.spec.get("provider", "kubernetes", "envoyService", "name").text()
        if ("Service", service) == (target.kind, target.name):
            yield proxy, draining.of_proxy(proxy.spec)


DRAINING = Rule(
    name="backend-draining",
    title="The load balancer drains as long as the pods behind it",
    why="When a pod terminates, the load balancer waits for running answers for `drainingTimeoutSec` and then closes "
    "their connections, however long the server would still write: streams are cut during every roll-out.",
    sources=("https://cloud.google.com/load-balancing/docs/enabling-connection-draining",),
    kinds=(BACKEND_POLICY, LLM_SERVICE, LLM_SERVICE_CONFIG, POOL, SERVICE, DEPLOYMENT, STATEFUL_SET, ENVOY_PROXY),
    check_program=_draining,
)
