"""The front door: its Gateway, the pods behind it, and its route and policies at the load balancer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from llmd_common.kubernetes.fields import Object, condition_is_true
from llmd_gke.catalog import front_door
from llmd_gke.manifests.gateway import place
from llmd_gke.settings import FrontDoorSettings, StackSettings
from llmd_gke.settings.sections.front_door import IN_CLUSTER
from operations.status import gateway
from operations.status.objects import Line, Snapshot, State, labelled, of

NAME: Final = "front door"


def namespaces(settings: StackSettings) -> tuple[str, ...]:
    """The namespaces whose objects ``status`` reads: those of the models, of the Gateway, and of a front door."""
    named = (*settings.namespaces, str(place(settings.gateway)["namespace"]))
    if settings.front_door is None:
        return named
    return (*named, front_door.NAMESPACE, front_door.PROXIES_NAMESPACE)


def proxies(snapshot: Snapshot) -> list[Object]:
    """The Envoys' pods."""
    return labelled(snapshot.pods, front_door.PROXIES_NAMESPACE, front_door.PROXY_LABELS)


def lines(snapshot: Snapshot, door: FrontDoorSettings, stack: str, *, policies: bool = True) -> list[Line]:
    """Gateway, pods, route and, at GKE's Gateway, policies of the front door."""
    where, service = front_door.PROXIES_NAMESPACE, front_door.NAME
    fix = f"pulumi up --stack {stack} --policy-pack policies"
    absent = f"HTTPRoute {where}/{service} does not exist: the load balancer answers 404", fix
    parts = [*_gateway(snapshot, stack), _ready(snapshot, "proxies", front_door.PROXY_LABELS, door.replicas)]
    if door.has_limits:
        parts.append(_ready(snapshot, "limiter", front_door.LIMITER_LABELS, 1))
        if door.redis == IN_CLUSTER:
            parts.append(_ready(snapshot, "Redis", {"app.kubernetes.io/name": front_door.REDIS}, 1))
    return [
        *parts,
        *gateway.route_lines(snapshot, f"{NAME}: route", where, called=service, stack=stack, absent=absent),
        *gateway.policy_lines(snapshot, NAME, where, (service,) if policies else (), stack),
    ]


def _gateway(snapshot: Snapshot, stack: str) -> list[Line]:
    called = f"{front_door.NAMESPACE}/{front_door.NAME}"
    door = of(snapshot.gateways, front_door.NAMESPACE, front_door.NAME)
    if door is not None:
        return gateway.gateway_problems(NAME, door, stack) or [
            Line(NAME, State.GOOD, f"Gateway {called} is programmed")
        ]
    if "gateways" in snapshot.unreadable:
        return []
    fix = f"pulumi up --stack {stack} --policy-pack policies"
    return [Line(NAME, State.BAD, f"the Gateway {called} does not exist", fix)]


def _ready(snapshot: Snapshot, part: str, labels: Mapping[str, str], wanted: int) -> Line:
    pods = labelled(snapshot.pods, front_door.PROXIES_NAMESPACE, labels)
    ready = [pod for pod in pods if condition_is_true(pod, "Ready")]
    message = f"{len(ready)} of {wanted} pods ready"
    if len(ready) >= wanted:
        return Line(f"{NAME}: {part}", State.GOOD, message)
    return Line(f"{NAME}: {part}", State.BUSY, message, f"kubectl -n {front_door.PROXIES_NAMESPACE} get pods")
