"""Capacities in order of preference: what settings and policies share."""

from __future__ import annotations

from typing import Any

import pytest

from llmd_gke.catalog.cost import dearest_first
from llmd_gke.catalog.zones import Capacity
from llmd_gke.rules.budget import PricedPool, together


@pytest.mark.parametrize(
    ("prices", "limits", "nodes", "counts"),
    [
        ([1.0, 3.0, 2.0], [4, 4, 4], 4, [0, 4, 0]),
        ([1.0, 3.0, 2.0], [4, 1, 2], 4, [1, 1, 2]),
        ([None, 2.0], [4, 3], 4, [1, 3]),
        ([2.0], [4], 0, [0]),
    ],
)
def test_the_dearest_nodes_count_first_and_those_without_price_last(
    prices: list[float | None], limits: list[int], nodes: int, counts: list[int]
) -> None:
    assert dearest_first(prices, limits, nodes) == counts


def pool(capacity: Capacity, nodes: int, kept: int = 0) -> PricedPool:
    v6e: dict[str, Any] = {"machine_type": "ct6e-standard-4t", "chips": 4, "zone": "us-east5-a"}
    return PricedPool(**v6e, name=capacity, capacity=capacity, nodes=nodes, kept=kept)


@pytest.mark.parametrize(
    ("pools", "counted"),
    [
        (
            [pool("spot", 4), pool("on-demand", 3), pool("flex-start", 4)],
            [("spot", 1), ("on-demand", 3), ("flex-start", 4)],
        ),
        ([pool("on-demand", 4, 4), pool("spot", 4, 4)], [("on-demand", 4), ("spot", 4)]),
    ],
    ids=["those without a price stay named", "more always run than they share"],
)
def test_node_pools_that_share_their_hosts_are_counted_once(
    pools: list[PricedPool], counted: list[tuple[str, int]]
) -> None:
    assert [(one.name, one.nodes) for one in together(pools, 4)] == counted
