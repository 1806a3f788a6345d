"""Chips and price of node pools, from the dated price table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llmd_gke.catalog.accelerators import Family, Slice
from llmd_gke.catalog.zones import CLUSTER_FEE_USD_PER_HOUR, Capacity, chip_price
from llmd_gke.wording import cents


@dataclass(frozen=True)
class Totals:
    """TPU chips, and USD per hour (``None`` where no public price is known)."""

    chips: int
    usd_per_hour: float | None


def pool_cost(family: Family, slice_: Slice, zone: str, capacity: Capacity, nodes: int) -> Totals:
    """Chips and price of that many nodes of a slice's machine type."""
    chips = nodes * slice_.machine.chips
    price = chip_price(family.name, zone, capacity, slice_.machine)
    return Totals(chips, None if price is None else round(chips * price, 4))


def dearest_first(prices: Sequence[float | None], limits: Sequence[int], nodes: int) -> list[int]:
    """How many of ``nodes`` run at each price if they cost as much as they can, with ``limits`` nodes at each.

    Nodes without a public price come last: nobody knows whether they are dearer.
    """
    counts = [0] * len(prices)
    for index in sorted(range(len(prices)), key=lambda at: -(prices[at] or 0.0)):
        counts[index] = min(limits[index], nodes - sum(counts))
    return counts


def total(pools: list[Totals]) -> Totals:
    """Chips of a cluster with these pools, and their price with GKE's fee. System nodes, disks and traffic are extra.

    The price is ``None`` if that of one pool is not known: an incomplete sum could be mistaken for the total.
    """
    prices = [pool.usd_per_hour for pool in pools if pool.usd_per_hour is not None]
    complete = len(prices) == len(pools)
    price = cents(sum(prices) + CLUSTER_FEE_USD_PER_HOUR) if complete else None
    return Totals(sum(pool.chips for pool in pools), price)
