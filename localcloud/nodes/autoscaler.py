"""The decisions of GKE's cluster autoscaler: more nodes for pods that do not fit, fewer if nodes are idle.

Pure decisions. https://cloud.google.com/kubernetes-engine/docs/concepts/cluster-autoscaler; texts of the events:
kubernetes/autoscaler ``cluster-autoscaler/processors/status/eventing_scale_up_processor.go``. Multi-host slices are
made and removed as a whole. Not imitated: moving pods together to free a node, and removing a node with low
utilization.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from llmd_common.kubernetes.fields import Object, each, text
from localcloud.nodes.nodes import Template
from localcloud.nodes.scheduling import NodeCapacity, empty_node, requests_of, unschedulable_reason
from localcloud.product import accelerators

MAX_SIZE_REACHED = "max node group size reached"
IN_BACKOFF = "in backoff after failed scale-up"
"""Both: kubernetes/autoscaler ``cluster-autoscaler/core/scaleup/orchestrator/skippedreasons.go``."""


@dataclass(frozen=True)
class NodeGroup:
    """A pool as the autoscaler sees it. ``size``, ``maximum``: nodes; ``step``: nodes that come together.

    ``in_backoff``: its last scale-up failed a moment ago, and it is not tried again yet. ``priority``: its position in
    the ComputeClass that lists it; 0 without one.
    """

    pool: str
    name: str
    size: int
    maximum: int
    step: int
    template: Template
    in_backoff: bool = False
    priority: int = 0


@dataclass
class ScalingPlan:
    """``increase``: pool id to nodes more. ``triggered`` and ``refused``: pod uid to the event's text.

    ``pool_for``: pod uid to the id of the pool that grows for it.
    """

    increase: dict[str, int] = field(default_factory=dict[str, int])
    triggered: dict[str, str] = field(default_factory=dict[str, str])
    refused: dict[str, str] = field(default_factory=dict[str, str])
    pool_for: dict[str, str] = field(default_factory=dict[str, str])


def unschedulable(pod: Object) -> bool:
    """Whether the scheduler has looked at the pod and found no node."""
    return not pod["spec"].get("nodeName") and any(
        one["type"] == "PodScheduled" and one["status"] == "False" and one.get("reason") == "Unschedulable"
        for one in each(pod, "status", "conditions")
    )


def age_seconds(timestamp: object) -> float:
    """Seconds since a time of Kubernetes."""
    return (datetime.now(UTC) - datetime.fromisoformat(str(timestamp).replace("Z", "+00:00"))).total_seconds()


def waiting_seconds(pod: Object) -> float:
    """Seconds since the scheduler found no node for the pod."""
    since = next(
        (c.get("lastTransitionTime") for c in each(pod, "status", "conditions") if c["type"] == "PodScheduled"), None
    )
    return age_seconds(since) if since else 0.0


def grow(pending: Sequence[Object], groups: Sequence[NodeGroup], upcoming: Sequence[NodeCapacity]) -> ScalingPlan:
    """Nodes to add for pods that do not fit. ``upcoming``: nodes that will take pods soon, with what is free there."""
    plan = ScalingPlan()
    capacities = list(upcoming)
    # In the order of their ComputeClass, then the smallest node that suffices: chips cost more than cores.
    ordered = sorted(groups, key=lambda group: (group.priority, _cost(group.template)))
    for pod in pending:
        requests = requests_of(pod)
        uid = str(pod["metadata"]["uid"])
        if node := next((one for one in capacities if not unschedulable_reason(pod, one)), None):
            node.take(requests)
            continue
        reasons: Counter[str] = Counter()
        for group in ordered:
            made = group.template
            fresh = [empty_node(made.labels, made.taints, made.allocatable) for _ in range(group.step)]
            if problem := unschedulable_reason(pod, fresh[0]):
                reasons[problem] += 1
                continue
            if group.in_backoff:
                reasons[IN_BACKOFF] += 1
                continue
            size = group.size + plan.increase.get(group.pool, 0)
            if size + group.step > group.maximum:
                reasons[MAX_SIZE_REACHED] += 1
                continue
            plan.increase[group.pool] = plan.increase.get(group.pool, 0) + group.step
            plan.triggered[uid] = (
                f"pod triggered scale-up: [{{{group.name} {size}->{size + group.step} (max: {group.maximum})}}]"
            )
            plan.pool_for[uid] = group.pool
            fresh[0].take(requests)
            capacities += fresh
            break
        else:
            summary = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
            plan.refused[uid] = (
                f"pod didn't trigger scale-up: {summary}" if summary else "pod didn't trigger scale-up: "
            )
    return plan


def _cost(template: Template) -> tuple[int, int]:
    return sum(int(template.capacity.get(resource, "0")) for resource in accelerators.RESOURCES), int(
        template.capacity["cpu"]
    )


@dataclass(frozen=True)
class Unit:
    """Nodes that are created and deleted together: one, or all hosts of a slice. ``idle_seconds``: time without a pod;
    0 if in use.
    """

    pool: str
    nodes: tuple[str, ...]
    idle_seconds: float


def shrink(
    units: Sequence[Unit], minimum: Mapping[str, int], sizes: Mapping[str, int], after_seconds: float
) -> list[Unit]:
    """Units to remove: idle for ``after_seconds``, the longest idle first, and never below a pool's minimum."""
    left = dict(sizes)
    gone: list[Unit] = []
    for unit in sorted(units, key=lambda one: -one.idle_seconds):
        if (
            unit.idle_seconds > 0
            and unit.idle_seconds >= after_seconds
            and left[unit.pool] - len(unit.nodes) >= minimum[unit.pool]
        ):
            left[unit.pool] -= len(unit.nodes)
            gone.append(unit)
    return gone


def occupies(pod: Object) -> bool:
    """Whether a pod keeps its node from being idle: those of DaemonSets and finished ones do not."""
    owners = each(pod, "metadata", "ownerReferences")
    ended = text(pod, "status", "phase") in ("Succeeded", "Failed")
    return not ended and not any(owner["kind"] == "DaemonSet" for owner in owners)
