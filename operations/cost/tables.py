"""The tables of ``llmd-gke cost``."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from llmd_gke.catalog.overhead import HOURS_PER_MONTH
from llmd_gke.catalog.zones import CLUSTER_FEE_USD_PER_HOUR, PRICES_AS_OF
from llmd_gke.wording import cents, counted
from operations.cost.actual import PoolHours, fee, total
from operations.cost.estimate import NOT_INCLUDED, STATES, Amount, StackPrice
from operations.printing import table as new_table

NOTES = (
    f"USD, list prices of {PRICES_AS_OF}, {HOURS_PER_MONTH} h per month. Not in the totals: {', '.join(NOT_INCLUDED)}.",
    *(f"{state}: {meaning}." for state, meaning in STATES.items()),
)

FIRST_ZONAL = "GKE's fee: Google waives it for one zonal cluster per billing account."
"""Note below the table of a zonal cluster (https://cloud.google.com/kubernetes-engine/pricing, free tier)."""

NOTHING = "-"


def price(stack_price: StackPrice) -> Table:
    """Pools and totals of one stack."""
    title = f"Stack {stack_price.stack}: chips and price"
    table = new_table(title, ("pool", "slice"), ("chip-hour", *STATES), no_wrap=True)
    for pool in stack_price.pools:
        slice_ = f"{pool.machine_type} {pool.topology}\n{pool.capacity}, {pool.zone}"
        chip = NOTHING if pool.usd_per_chip_hour is None else f"{pool.usd_per_chip_hour:,.3f}"
        cells = [f"{_nodes(pool.amounts[state])}\n{hourly(pool.amounts[state])}" for state in STATES]
        table.add_row(escape(pool.name), slice_, chip, *cells)
    system = stack_price.system_pool
    nodes = f"{system.machine_type}, {system.min_nodes} to {system.max_nodes} nodes"
    table.add_row("system", nodes, "", *("not included" for _ in STATES))
    table.add_row("GKE's fee", "", "", *(f"{CLUSTER_FEE_USD_PER_HOUR:,.2f}" for _ in STATES))
    table.add_section()
    table.add_row("all", "per hour", "", *(hourly(stack_price.totals[state]) for state in STATES))
    table.add_row("", "per month", "", *(monthly(stack_price.totals[state]) for state in STATES))
    return table


def comparison(stack: str, before: StackPrice | None, after: StackPrice | None, revision: str) -> Table:
    """Two revisions of one stack side by side."""
    title = f"Stack {stack}: {escape(revision)} and now"
    table = new_table(title, ("",), ("before", "after", "change"), no_wrap=True)
    for state in STATES:
        first, second = (None if one is None else one.totals[state] for one in (before, after))
        table.add_section()
        table.add_row(
            f"{state}: nodes", _count(first, "nodes"), _count(second, "nodes"), _steps(first, second, "nodes")
        )
        table.add_row("chips", _count(first, "chips"), _count(second, "chips"), _steps(first, second, "chips"))
        table.add_row("per hour", hourly(first), hourly(second), difference(first, second, 1))
        table.add_row("per month", monthly(first), monthly(second), difference(first, second, HOURS_PER_MONTH))
    return table


def actual(stack: str, days: float, rows: Sequence[PoolHours]) -> Table:
    """Node hours of the last days by pool, and their price."""
    title = f"Stack {stack}: node hours of the last {days:g} days"
    table = new_table(title, ("pool",), ("node hours", "chip hours", "USD"), no_wrap=True)
    for row in rows:
        chips = f"{row.node_hours * row.chips:,.1f}" if row.chips else ""
        table.add_row(
            escape(row.name), f"{row.node_hours:,.1f}", chips, row.open if row.usd is None else f"{row.usd:,.2f}"
        )
    table.add_row("GKE's fee", "", "", f"{fee(days * 86400):,.2f}")
    table.add_section()
    whole = total(rows, days * 86400)
    table.add_row("chips and fee", "", "", NOTHING if whole is None else f"{whole:,.2f}")
    return table


def hourly(amount: Amount | None) -> str:
    """USD per hour, or the reason why there is no price; a dash without an amount."""
    if amount is None:
        return NOTHING
    return amount.open if amount.usd_per_hour is None else f"{cents(amount.usd_per_hour):,.2f}"


def monthly(amount: Amount | None) -> str:
    """USD per month, as :func:`hourly`."""
    if amount is None:
        return NOTHING
    return amount.open if amount.usd_per_month is None else f"{amount.usd_per_month:,.0f}"


def difference(before: Amount | None, after: Amount | None, hours: int) -> str:
    """The difference of two prices; a dash if either is not known."""
    first = 0.0 if before is None else before.usd_per_hour
    second = 0.0 if after is None else after.usd_per_hour
    if first is None or second is None:
        return NOTHING
    step = (second - first) * hours
    digits = 2 if hours == 1 else 0
    return "0" if round(step, digits) == 0 else f"{step:+,.{digits}f}"


def _nodes(amount: Amount) -> str:
    return f"{counted(amount.nodes, 'node')}, {counted(amount.chips, 'chip')}"


def _count(amount: Amount | None, what: str) -> str:
    return NOTHING if amount is None else str(getattr(amount, what))


def _steps(before: Amount | None, after: Amount | None, what: str) -> str:
    step = (getattr(after, what) if after else 0) - (getattr(before, what) if before else 0)
    return f"{step:+d}" if step else "0"
