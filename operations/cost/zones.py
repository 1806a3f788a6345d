"""The table of zones and prices in docs/pools.md: ``python -m operations.cost.zones`` (run by ``make docs``)."""

from __future__ import annotations

from llmd_gke.catalog.zones import FAMILIES, chip_price


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
    print("\n".join(rows()))
