"""Capacities in order of preference: what settings and policies share."""

from __future__ import annotations

import pytest

from llmd_gke.catalog.cost import dearest_first
from llmd_gke.catalog.zones import Capacity
from llmd_gke.rules.budget import PricedPool, together

KINDS: tuple[Capacity, ...] = ("on-demand", "spot")


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


def test_node_pools_that_share_their_hosts_are_counted_once_and_unpriced_ones_stay_named() -> None:
    def pool(capacity: Capacity, nodes: int) -> PricedPool:
        return PricedPool(
            name=capacity, machine_type="ct6e-standard-4t", chips=4, zone="us-east5-a", capacity=capacity, nodes=nodes
        )

    counted = together([pool("spot", 4), pool("on-demand", 3), pool("flex-start", 4)], 4)
    assert [(one.name, one.nodes) for one in counted] == [("spot", 1), ("on-demand", 3), ("flex-start", 4)]


def test_node_pools_that_always_run_more_hosts_than_they_share_are_counted_with_all_of_these() -> None:
    pools = [
        PricedPool(
            name=kind, machine_type="ct6e-standard-4t", chips=4, zone="us-east5-a", capacity=kind, nodes=4, kept=4
        )
        for kind in KINDS
    ]
    assert [one.nodes for one in together(pools, 4)] == [4, 4]
