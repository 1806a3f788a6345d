"""A pool with capacities in order of preference: its node pools, the class that orders them, and its models."""

from __future__ import annotations

from typing import Any, cast

import pytest

from llmd_gke.graph.resources import Graph
from tests.components import kinds
from tests.components.kinds import of, spec
from tests.components.variants import variant

CLASS = "kubernetes:cloud.google.com/v1:ComputeClass"
LABEL = "cloud.google.com/compute-class"
NAMES = ["v6e4-reservation", "v6e4-on-demand", "v6e4-spot"]


@pytest.fixture
def graph() -> Graph:
    """The graph of a stack whose pool has three capacities. Shared between tests: do not change it."""
    return variant("keda")


def test_each_capacity_is_a_node_pool_with_label_and_taint_of_the_class(graph: Graph) -> None:
    for name in NAMES:
        config = cast("dict[str, Any]", graph.find(kinds.NODE_POOL, f"{name}-nodes").inputs["nodeConfig"])
        assert config["labels"] == {LABEL: "v6e4-capacity"}
        assert config["taints"] == [{"key": LABEL, "value": "v6e4-capacity", "effect": "NO_SCHEDULE"}]
    assert {one.name for one in kinds.tpu_pool(graph)} == {f"{name}-nodes" for name in NAMES}


def test_the_class_lists_the_node_pools_in_order_and_comes_after_them(graph: Graph) -> None:
    (made,) = of(CLASS)(graph)
    assert spec(made) == {
        "priorities": [{"nodepools": [name]} for name in NAMES],
        "activeMigration": {"optimizeRulePriority": True},
        "nodePoolAutoCreation": {"enabled": False},
        "whenUnsatisfiable": "DoNotScaleUp",
    }
    assert {one.urn for one in kinds.tpu_pool(graph)} <= graph.before(made)


def test_pods_select_the_class_instead_of_a_node_pool_and_tolerate_its_taint(graph: Graph) -> None:
    (config,) = [one for one in of(kinds.CONFIG)(graph) if one.name.endswith("-tpu")]
    template = cast("dict[str, Any]", spec(config))["template"]
    assert template["nodeSelector"][LABEL] == "v6e4-capacity"
    assert "cloud.google.com/gke-nodepool" not in template["nodeSelector"]
    taint = {"key": LABEL, "operator": "Equal", "value": "v6e4-capacity", "effect": "NoSchedule"}
    assert taint in template["tolerations"]


def test_the_model_comes_after_the_class(graph: Graph) -> None:
    (made,), (service,) = of(CLASS)(graph), of(kinds.SERVICE)(graph)
    assert made.urn in graph.before(service)
