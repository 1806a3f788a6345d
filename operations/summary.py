"""Summary of a stack before anything is created: settings, graph, chips and price. Needs Python only.

``python -m operations.summary --stack eu4a``; exit code 0, or 2 for invalid settings.
"""

from __future__ import annotations

import argparse
import sys
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from llmd_gke.catalog.zones import PRICES_AS_OF, old_prices
from llmd_gke.graph.recording import Graph, ResourceNode, load
from llmd_gke.settings import PoolSettings, SettingsError, StackSettings
from llmd_gke.settings.errors import describe
from llmd_gke.settings.load import load_stack


def show(stack: str, root: Path, console: Console | None = None) -> int:
    """Prints the summary of ``Pulumi.<stack>.yaml`` in ``root``. Returns the exit code."""
    out = console or Console(highlight=False, soft_wrap=True)
    try:
        checked = load_stack(root, stack)
    except SettingsError as error:
        Console(stderr=True, highlight=False, soft_wrap=True).print(escape(str(error)))
        return 2
    out.print(_settings(stack, checked.settings))
    out.print(_prices(checked.settings))
    out.print(_quota(checked.settings))
    if (old := old_prices(date.today())) is not None:
        out.print(f"[yellow]warning:[/] {old}")
    for warning in checked.warnings:
        out.print(f"[yellow]warning:[/] {escape(describe(warning).strip())}")
    out.print(_tree(stack, load(root, stack)))
    return 0


def _settings(stack: str, settings: StackSettings) -> Table:
    table = Table(title=f"Stack {stack}", title_justify="left", show_header=False, box=None, pad_edge=False)
    cluster = settings.cluster
    table.add_row("project", settings.project)
    table.add_row("cluster", f"{cluster.name} in {cluster.location}, TPU nodes in {cluster.zone}")
    edge = settings.gateway
    speech = "plain HTTP" if edge.tls is None else "HTTPS"
    table.add_row("gateway", f"{edge.exposure}, {speech}{f', {edge.domain}' if edge.domain else ''}")
    for model in settings.models:
        table.add_row("model", f"{model.name}: {model.uri}, {model.replicas_text} on {model.pool}, at {model.path}")
    return table


def _prices(settings: StackSettings) -> Table:
    caption = f"USD, list prices of {PRICES_AS_OF}; the total includes GKE's fee, not system nodes, disks and traffic"
    table = Table(title="Chips and price", title_justify="left", caption=caption, caption_justify="left")
    for heading in ("pool", "slice", "capacity", "nodes", "chips", "per hour"):
        table.add_column(heading, justify="left" if heading in {"pool", "slice", "capacity"} else "right")
    for pool in settings.pools:
        nodes = settings.busy_nodes(pool)
        cost = pool.cost(pool.zone_in(settings.cluster.zone), nodes)
        shape = pool.family.shown(pool.slice)
        count = f"{nodes} of {pool.max_nodes}"
        table.add_row(pool.name, shape, _capacity(pool), count, str(cost.chips), price(cost.usd_per_hour))
    totals = settings.totals
    table.add_section()
    table.add_row("all replicas running", "", "", "", str(totals.chips), price(totals.usd_per_hour))
    return table


def _capacity(pool: PoolSettings) -> str:
    return ", ".join(one.provisioning for one in pool.node_pools)


def quotas(settings: StackSettings) -> dict[tuple[str, str], int]:
    """Chips by Compute Engine quota and TPU family that the project needs if every pool is at its maximum."""
    chips: dict[tuple[str, str], int] = {}
    for pool in settings.pools:
        for name, nodes in pool.quotas.items():
            quota = (name, pool.family.quota_family)
            chips[quota] = chips.get(quota, 0) + nodes * pool.slice.machine.chips
    return chips


def _quota(settings: StackSettings) -> Table:
    caption = "Compute Engine API quota with all pools at maxNodes; the Cloud TPU API's quotas do not apply to GKE"
    table = Table(title="Required quota", title_justify="left", caption=caption, caption_justify="left")
    for heading in ("quota", "TPU family", "region"):
        table.add_column(heading)
    table.add_column("chips", justify="right")
    for (quota, family), chips in quotas(settings).items():
        table.add_row(quota, family, settings.cluster.region, str(chips))
    return table


def price(usd: float | None) -> str:
    """A price as text, also if there is no public one."""
    return "no public price" if usd is None else f"{usd:,.2f}"


def _tree(stack: str, graph: Graph) -> Tree:
    resources = [node for node in graph.nodes.values() if node.custom and not node.type.startswith("pulumi:providers")]
    tree = Tree(f"Graph of {stack}: {len(resources)} resources")
    children: dict[str, list[ResourceNode]] = {}
    for node in graph.nodes.values():
        children.setdefault(node.parent, []).append(node)
    for component in graph.nodes.values():
        if component.custom or component.type == "pulumi:pulumi:Stack":
            continue
        branch = tree.add(f"[bold]{escape(component.name)}[/] {component.type.rsplit(':', 1)[-1]}")
        for node in children.get(component.urn, []):
            branch.add(f"{escape(node.name)}  [dim]{escape(node.type.rsplit(':', 1)[-1])}[/]")
    return tree


def main() -> None:
    """Runs the command line of this module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stack", required=True)
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1])
    arguments = parser.parse_args()
    sys.exit(show(arguments.stack, arguments.root))


if __name__ == "__main__":
    main()
