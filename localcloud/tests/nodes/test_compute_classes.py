"""Hosts that stay where they are; ``real_kubernetes/test_nodes.py`` shows those that move."""

from __future__ import annotations

from typing import Any

import pytest

from localcloud.nodes.compute_classes import Preference, preferences, to_leave
from localcloud.tests.nodes.objects import group, tpu_pool

RESERVED, SPOT, OTHER = (tpu_pool(name) for name in ("reserved", "spot", "other"))
IN_STOCK = (RESERVED.id, SPOT.id, OTHER.id)


def compute_class(*pools: list[str], **spec: Any) -> dict[str, Any]:
    """A class with a priority for each list of node pools."""
    return {"metadata": {"name": "v6e"}, "spec": {"priorities": [{"nodepools": one} for one in pools], **spec}}


@pytest.mark.parametrize("spec", [{}, {"activeMigration": {}}, {"activeMigration": {"optimizeRulePriority": False}}])
def test_pods_stay_where_they_are_unless_the_class_migrates(spec: dict[str, Any]) -> None:
    listed = preferences([compute_class(["reserved"], ["spot"], **spec)])
    assert to_leave([group(RESERVED, 0), group(SPOT, 2, 1)], listed, IN_STOCK) is None


def test_a_class_with_other_rules_than_node_pools_orders_nothing() -> None:
    assert preferences([{"metadata": {"name": "c"}, "spec": {"priorities": [{"machineFamily": "n2"}]}}]) == {}


def test_a_pool_without_nodes_and_a_pool_of_another_class_are_left_alone() -> None:
    listed = {name: Preference("v6e", at, migrates=True) for at, name in enumerate(("reserved", "spot"))}
    listed["other"] = Preference("another", 1, migrates=True)
    assert to_leave([group(RESERVED, 0), group(SPOT, 0, 1), group(OTHER, 2, 1)], listed, IN_STOCK) is None
