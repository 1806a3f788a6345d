"""The table of zones and prices in docs/pools.md: ``python -m operations.cost.zones`` (run by ``make docs``)."""

from __future__ import annotations

from itertools import groupby

from llmd_gke.catalog.zones import FAMILIES, chip_price, region_of


def rows() -> list[str]:
    """A row for each family and region: zones (``*``: also flex-start) and list prices of a chip-hour, USD."""
    lines = ["| Family | Zones (\\*: flex-start, too) | On-demand | Spot |", "|---|---|--:|--:|"]
    for family in FAMILIES:
        for _, group in groupby(sorted(family.zones), region_of):
            zones = list(group)
            shown = ", ".join(f"`{zone}`{chr(92) + '*' if zone in family.flex_start_zones else ''}" for zone in zones)
            prices = (chip_price(family.name, zones[0], capacity) for capacity in ("on-demand", "spot"))
            lines.append(
                f"| {family.name} | {shown} | {' | '.join('' if one is None else f'{one:.2f}' for one in prices)} |"
            )
    return lines


if __name__ == "__main__":
    print("\n".join(rows()))
