"""The order in which ComputeClasses try node pools, and hosts that move back to an earlier one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from localcloud.nodes import nodes
from localcloud.nodes.autoscaler import NodeGroup
from localcloud.nodes.compute_classes import Preference, preferences, to_leave
from localcloud.tests.nodes.objects import tpu_pool

RESERVED, SPOT, OTHER = (tpu_pool(name) for name in ("reserved", "spot", "other"))
LISTED = {"reserved": Preference("v6e", 0, migrates=True), "spot": Preference("v6e", 1, migrates=True)}
IN_STOCK = (RESERVED.id, SPOT.id, OTHER.id)


def compute_class(*pools: list[str], **spec: Any) -> dict[str, Any]:
    """A class with a priority for each list of node pools."""
    return {"metadata": {"name": "v6e"}, "spec": {"priorities": [{"nodepools": one} for one in pools], **spec}}


def group(pool: Any, size: int, priority: int = 0, **changed: Any) -> NodeGroup:
    template = nodes.template(pool, pool.zones[0])
    return replace(
        NodeGroup(
            pool=pool.id, name=pool.name, size=size, maximum=pool.maximum, step=1, template=template, priority=priority
        ),
        **changed,
    )


@pytest.mark.parametrize("spec", [{}, {"activeMigration": {}}, {"activeMigration": {"optimizeRulePriority": False}}])
def test_pods_stay_where_they_are_unless_the_class_migrates(spec: dict[str, Any]) -> None:
    listed = preferences([compute_class(["reserved"], ["spot"], **spec)])
    assert to_leave([group(RESERVED, 0), group(SPOT, 2, 1)], listed, IN_STOCK) is None


def test_a_class_with_other_rules_than_node_pools_orders_nothing() -> None:
    assert preferences([{"metadata": {"name": "c"}, "spec": {"priorities": [{"machineFamily": "n2"}]}}]) == {}


def test_a_node_of_the_later_pool_leaves_once_the_earlier_one_has_hosts() -> None:
    assert to_leave([group(RESERVED, 0), group(SPOT, 2, 1)], LISTED, IN_STOCK) == SPOT.id


@pytest.mark.parametrize(
    ("earlier", "in_stock"),
    [
        (group(RESERVED, 0), (SPOT.id,)),
        (group(RESERVED, 0, in_backoff=True), IN_STOCK),
        (group(RESERVED, RESERVED.maximum), IN_STOCK),
    ],
    ids=["out of stock", "in backoff", "full"],
)
def test_a_node_stays_while_the_earlier_pool_cannot_grow(earlier: NodeGroup, in_stock: tuple[str, ...]) -> None:
    assert to_leave([earlier, group(SPOT, 2, 1)], LISTED, in_stock) is None


def test_a_pool_without_nodes_and_a_pool_of_another_class_are_left_alone() -> None:
    listed = {**LISTED, "other": Preference("another", 1, migrates=True)}
    assert to_leave([group(RESERVED, 0), group(SPOT, 0, 1), group(OTHER, 2, 1)], listed, IN_STOCK) is None
