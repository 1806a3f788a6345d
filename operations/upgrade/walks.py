"""The upgrades that were walked, as a table: ``python -m operations.upgrade.walks``."""

from __future__ import annotations

from llmd_gke.catalog.upgrades import COMPONENTS, WALKS


def main() -> None:
    """Prints the table: a line for each walk, and one for the components without any."""
    print("| Upgrade | The update | Clients | Objects |")
    print("|---|---|---|---|")
    titles = {one.key: one.title for one in COMPONENTS}
    for one in WALKS:
        pair = f"{titles[one.component]} {one.before} to {one.after} ({one.on})"
        print(f"| {pair} | {one.update} | {one.clients} | {one.objects} |")
    others = titles.keys() - {one.component for one in WALKS}
    print(f"| {', '.join(titles[key] for key in titles if key in others)} | not walked | | |")


if __name__ == "__main__":
    main()
