"""Decides whether a pod fits on a node: node selector, required node affinity, taints and resources.

Not considered: affinity between pods, spreading, volumes' zones. Texts: k8s.io/kubernetes ``pkg/scheduler/framework``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from llmd_common.kubernetes.fields import Object, each, part, text, texts
from localcloud.nodes.quantity import total, value_of

SELECTOR = "node(s) didn't match Pod's node affinity/selector"


@dataclass
class NodeCapacity:
    """A node with what is still free on it."""

    labels: Mapping[str, str]
    taints: tuple[tuple[str, str, str], ...]
    free: dict[str, Decimal] = field(default_factory=dict[str, Decimal])

    def take(self, requests: Mapping[str, Decimal]) -> None:
        """Subtracts a pod's requests from what is free."""
        for name, amount in requests.items():
            self.free[name] = self.free.get(name, Decimal(0)) - amount


def empty_node(
    labels: Mapping[str, str], taints: tuple[tuple[str, str, str], ...], allocatable: Mapping[str, str]
) -> NodeCapacity:
    """An empty node."""
    return NodeCapacity(labels, taints, {name: value_of(amount) for name, amount in allocatable.items()})


def requests_of(pod: Object) -> dict[str, Decimal]:
    """The requests of a pod: those of its containers and side-cars, or those of an init container if they are
    larger.
    """
    sidecars: list[Mapping[str, str]] = []
    most: dict[str, Decimal] = {}
    for container in each(pod, "spec", "initContainers"):
        asked = _asked(container)
        if container.get("restartPolicy") == "Always":
            sidecars.append(asked)
        for name, amount in total(*sidecars, *([] if container.get("restartPolicy") == "Always" else [asked])).items():
            most[name] = max(most.get(name, Decimal(0)), amount)
    main = total(*(_asked(container) for container in each(pod, "spec", "containers")), *sidecars)
    names = {*most, *main}
    zero = Decimal(0)
    return {**{name: max(most.get(name, zero), main.get(name, zero)) for name in names}, "pods": Decimal(1)}


def _asked(container: Object) -> dict[str, str]:
    resources = part(container, "resources")
    # A limit without a request is a request too; the API server has written it so, but for extended resources alone.
    return {**part(resources, "limits"), **part(resources, "requests")}


def unschedulable_reason(pod: Object, node: NodeCapacity) -> str:
    """The reason why the pod does not fit on the node, in the scheduler's wording; empty if it fits."""
    if not _selected(pod, node.labels):
        return SELECTOR
    for taint in node.taints:
        if taint[2] != "PreferNoSchedule" and not _tolerated(pod, taint):
            return f"node(s) had untolerated taint {{{taint[0]}: {taint[1]}}}"
    for name, amount in sorted(requests_of(pod).items()):
        if amount > node.free.get(name, Decimal(0)):
            return f"Insufficient {name}" if name != "pods" else "Too many pods"
    return ""


def _tolerated(pod: Object, taint: tuple[str, str, str]) -> bool:
    key, value, effect = taint
    for toleration in each(pod, "spec", "tolerations"):
        if text(toleration, "effect") not in ("", effect):
            continue
        if text(toleration, "operator") == "Exists":
            if text(toleration, "key") in ("", key):
                return True
        elif text(toleration, "key") == key and text(toleration, "value") == value:
            return True
    return False


def _selected(pod: Object, labels: Mapping[str, str]) -> bool:
    if any(labels.get(key) != value for key, value in part(pod, "spec", "nodeSelector").items()):
        return False
    required = part(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = each(required, "nodeSelectorTerms")
    return not terms or any(
        all(_holds(rule, labels) for rule in each(term, "matchExpressions")) and "matchExpressions" in term
        for term in terms
    )


def _holds(rule: Object, labels: Mapping[str, str]) -> bool:
    key, wanted = str(rule["key"]), texts(rule, "values")
    value = labels.get(key)
    match text(rule, "operator"):
        case "In":
            return value in wanted
        case "NotIn":
            return value not in wanted
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return value is not None and int(value) > int(wanted[0])
        case _:
            return value is not None and int(value) < int(wanted[0])
