"""Backends: the load balancer drains as long as the pods behind it."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog import front_door, kserve
from llmd_gke.rules import draining, pods
from llmd_gke.rules.inputs import Input
from policies.rules.backends import BackendReference, aimed_at
from policies.rules.kinds import BACKEND_POLICY, DEPLOYMENT, LLM_SERVICE, LLM_SERVICE_CONFIG, POOL, STATEFUL_SET, Kind
from policies.rules.rule import ParameterValues, Program, Rule, StackFinding, Subject

SERVICE = Kind("", "Service")
PROXY = Kind(front_door.GATEWAY_GROUP, "EnvoyProxy")


def _draining(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    for policy in program.of(BACKEND_POLICY):
        if (target := aimed_at(policy)) is None:
            continue
        behind = [(seconds, owner) for owner, seconds in _behind(program, target) if seconds is not None]
        if behind:
            seconds, owner = max(behind, key=lambda one: one[0])
            for finding in draining.policy(policy.spec, seconds, owner.label):
                yield StackFinding(policy, finding)


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
            selector = entrance.spec.get("selector")
            labels = _texts(selector if entrance.kind == SERVICE else selector.get("matchLabels"))
            for workload in program.of(DEPLOYMENT, STATEFUL_SET):
                template = workload.spec.get("template")
                own = _texts(template.get("metadata", "labels"))
                if labels and workload.namespace == target.namespace and labels.items() <= own.items():
                    yield workload, draining.of_pod(template.get("spec"))
    for proxy in program.of(PROXY):
        service = proxy.spec.get("provider", "kubernetes", "envoyService", "name").text()
        if ("Service", proxy.namespace, service) == place:
            yield proxy, draining.of_proxy(proxy.spec)


def _texts(node: Input) -> dict[str, str]:
    return {key: text for key, value in node.entries() if (text := value.text()) is not None}


DRAINING = Rule(
    name="backend-draining",
    title="The load balancer drains as long as the pods behind it",
    why="When a pod terminates, the load balancer waits for running answers for `drainingTimeoutSec` and then closes "
    "their connections, however long the server would still write: streams are cut during every roll-out.",
    sources=("https://cloud.google.com/load-balancing/docs/enabling-connection-draining",),
    kinds=(BACKEND_POLICY, LLM_SERVICE, LLM_SERVICE_CONFIG, POOL, SERVICE, DEPLOYMENT, STATEFUL_SET, PROXY),
    check_stack=_draining,
)
RULES = (DRAINING,)
