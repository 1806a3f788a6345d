"""Node pools: how many nodes there are, how many chips they offer and how many are in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llmd_common.kubernetes.fields import Object, condition_is_true, each, get, label, name, number, text
from llmd_gke.catalog.accelerators import POOL_LABEL, RESOURCES
from operations.status.objects import Line, State
from operations.symptoms import NO_CHIPS

LEAVING = (
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "cloud.google.com/impending-node-termination",
)
"""Taints of nodes that will be removed: the cluster autoscaler's, and GKE's on spot nodes about to be reclaimed."""
SHOWN_NODES = 3


@dataclass(frozen=True)
class PoolPlan:
    """A pool according to the settings."""

    name: str
    shape: str
    max_nodes: int


def lines(nodes: Sequence[Object], pods: Sequence[Object], pools: Sequence[PoolPlan]) -> list[Line]:
    """A line for each pool of the settings, and one for all other nodes."""
    names = {pool.name for pool in pools}
    listed = [_pool(pool, [node for node in nodes if label(node, POOL_LABEL) == pool.name], pods) for pool in pools]
    others = [node for node in nodes if label(node, POOL_LABEL) not in names]
    ready = sum(condition_is_true(node, "Ready") for node in others)
    if not others:
        listed.append(Line("system", State.BUSY, "no node: KServe and its controllers cannot run"))
    else:
        state = State.GOOD if ready == len(others) else State.BUSY
        listed.append(Line("system", state, f"{ready} of {len(others)} nodes ready", _describe(others)))
    return listed


def _pool(pool: PoolPlan, nodes: list[Object], pods: Sequence[Object]) -> Line:
    subject = f"{pool.name} ({pool.shape})"
    if not nodes:
        return Line(subject, State.GOOD, f"no node of {pool.max_nodes}: none is needed, none is billed")
    ready = [node for node in nodes if condition_is_true(node, "Ready")]
    offered = {name(one): sum(number(one, "status", "allocatable", key) or 0 for key in RESOURCES) for one in ready}
    chips, empty = sum(offered.values()), [node for node, count in offered.items() if not count]
    names = {name(node) for node in nodes}
    used = sum(chips_of(pod) for pod in pods if text(pod, "spec", "nodeName") in names and not _over(pod))
    message = f"{len(ready)} of {len(nodes)} nodes ready (at most {pool.max_nodes}), {used} of {chips} chips in use"
    busy = {text(pod, "spec", "nodeName") for pod in pods if chips_of(pod) and not _over(pod)}
    idle = [node for node, count in offered.items() if count and node not in busy]
    if idle:
        message += f", idle: {', '.join(idle[:SHOWN_NODES])}"
        message += f" and {len(idle) - SHOWN_NODES} more" if len(idle) > SHOWN_NODES else ""
    leaving = [node for node in nodes if any(text(taint, "key") in LEAVING for taint in each(node, "spec", "taints"))]
    if leaving:
        message += f", {len(leaving)} being removed"
    if empty:
        fix = NO_CHIPS.command.replace("NODE", empty[0])
        return Line(subject, State.BUSY, f"{message}; {empty[0]}: {NO_CHIPS.cause}", fix)
    state = State.GOOD if len(ready) == len(nodes) and not leaving else State.BUSY
    return Line(subject, state, message, _describe(nodes))


def _describe(nodes: list[Object]) -> str:
    down = [name(node) for node in nodes if not condition_is_true(node, "Ready")]
    return f"kubectl describe node {down[0]}" if down else ""


def _over(pod: Object) -> bool:
    return text(pod, "status", "phase") in ("Succeeded", "Failed")


def chips_of(pod: Object) -> int:
    """Number of chips that a pod requests."""
    return sum(
        number(get(container, "resources", "requests") or get(container, "resources", "limits"), resource) or 0
        for container in each(pod, "spec", "containers")
        for resource in RESOURCES
    )
