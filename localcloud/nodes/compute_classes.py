"""The order of node pools that ComputeClasses determine, and hosts that move back to an earlier one.

Pure decisions. https://docs.cloud.google.com/kubernetes-engine/docs/concepts/about-custom-compute-classes: the cluster
autoscaler tries the priorities of a class from the first to the last; with ``activeMigration.optimizeRulePriority`` it
moves pods to nodes of an earlier priority once they are available. Here a node is drained first and its pods start on
the earlier pool afterwards, one node at a time. Not imitated: pools that GKE creates itself, and
``whenUnsatisfiable: ScaleUpAnyway``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from llmd_common.kubernetes.client import Resource
from llmd_common.kubernetes.fields import Object, each, part, text
from localcloud.nodes.autoscaler import NodeGroup
from localcloud.product import compute_class

COMPUTE_CLASSES = Resource(compute_class.VERSION, compute_class.PLURAL, namespaced=False)


@dataclass(frozen=True)
class Preference:
    """Where a node pool comes in its class: ``priority`` 0 is tried first. ``migrates``: pods leave this pool once an
    earlier one has hosts.
    """

    compute_class: str
    priority: int
    migrates: bool


def preferences(classes: Iterable[Object]) -> dict[str, Preference]:
    """By name of the node pool, what the classes say of it."""
    listed: dict[str, Preference] = {}
    for one in classes:
        migrates = part(one, "spec", "activeMigration").get("optimizeRulePriority") is True
        for position, priority in enumerate(each(one, "spec", "priorities")):
            for name in cast("list[str]", priority.get("nodepools") or []):
                listed.setdefault(name, Preference(text(one, "metadata", "name"), position, migrates))
    return listed


def to_leave(groups: Sequence[NodeGroup], listed: Mapping[str, Preference], in_stock: Iterable[str]) -> str | None:
    """The id of the pool from which a node moves: the last of a class that migrates, if an earlier one can grow.

    ``in_stock``: ids of the pools for which Google has hosts.
    """
    stocked = frozenset(in_stock)
    for group in sorted(groups, key=lambda one: -one.priority):
        own = listed.get(group.name)
        if own is None or not own.migrates or not group.size:
            continue
        for other in groups:
            there = listed.get(other.name)
            same = there is not None and there.compute_class == own.compute_class and there.priority < own.priority
            if same and other.pool in stocked and not other.in_backoff and other.size + other.step <= other.maximum:
                return group.pool
    return None
