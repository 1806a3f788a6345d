"""The tables of docs/figures.md: ``python -m operations.cost.zones [stacks]`` (run by ``make docs``)."""

from __future__ import annotations

import sys

from llmd_gke.catalog.zones import FAMILIES, chip_price
from llmd_gke.repository import CLONE
from llmd_gke.settings.load import load_stack
from operations.cost.estimate import estimate
from operations.cost.tables import hourly

STACKS = ("dev", "gpu", "eu4a", "prod")


def stacks() -> list[str]:
    """A row for each included stack: where, on how many chips, and USD per hour for them and for the rest."""
    lines = ["| Stack | Zone | Chips | Chips and GKE's fee, an hour | The rest, an hour |", "|---|---|---|--:|--:|"]
    for stack in STACKS:
        settings = load_stack(CLONE, stack).settings
        price = estimate(stack, settings)
        chips, more = price.totals["running"], price.besides.least.usd_per_hour
        pools = ", ".join(f"{chips.chips} on `{pool.machine_type}`, {pool.capacity}" for pool in price.pools)
        lines.append(f"| `{stack}` | `{settings.cluster.zone}` | {pools} | {hourly(chips)} | {more:.2f} |")
    return lines


def rows() -> list[str]:
    """A row for each family and price: zones (``*``: also flex-start) and list prices of a chip-hour, USD; of GPUs with
    the chip's share of the smallest host.
    """
    lines = ["| Family | Zones (\\*: flex-start, too) | On-demand | Spot |", "|---|---|--:|--:|"]
    for family in FAMILIES:
        priced: dict[tuple[str, ...], list[str]] = {}
        for zone in sorted(family.zones):
            prices = (chip_price(family.name, zone, kind, family.machines[0]) for kind in ("on-demand", "spot"))
            shown = f"`{zone}`{chr(92) + '*' if zone in family.flex_start_zones else ''}"
            priced.setdefault(tuple("" if one is None else f"{one:.2f}" for one in prices), []).append(shown)
        lines += [f"| {family.name} | {', '.join(zones)} | {' | '.join(prices)} |" for prices, zones in priced.items()]
    return lines


if __name__ == "__main__":
    print("\n".join(stacks() if "stacks" in sys.argv else rows()))
