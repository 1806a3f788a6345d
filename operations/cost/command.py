"""``llmd-gke cost``."""

from __future__ import annotations

import sys
from datetime import date
from typing import Annotated

import typer

from operations.enter_localcloud import enter, starting
from operations.exits import BadInput, Failed
from operations.options import DEFAULT_STACK, Cloud, CloudOption, Output, OutputOption, StackOption
from operations.printing import show
from operations.target import Target


def command(
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    *,
    against: Annotated[
        str | None, typer.Option(metavar="REV", help="Compare with the stack file at this git revision.")
    ] = None,
    tokens_per_second: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="Output tokens per second of the whole stack; shows the price of a million tokens."
        ),
    ] = None,
    actual: Annotated[
        bool, typer.Option("--actual", help="Node hours of the running stack by pool, times list prices.")
    ] = False,
    days: Annotated[
        float, typer.Option(min=0.01, max=42, metavar="N", help="Period of --actual: the last N days.")
    ] = 1.0,
) -> None:
    """Show chips, nodes and list price of a stack before it is created: idle, with all replicas running, and at
    maxNodes. With --actual: what its nodes have cost by now.

    If there is no public price (flex-start, families other than v6e), it is left open, and so is every sum that
    includes it. Exit status 1: a price per token was requested, but the stack has no price.
    """
    from llmd_gke.catalog.zones import old_prices
    from llmd_gke.wording import counted
    from operations.cost import as_data, revisions, tables
    from operations.cost.estimate import autoscaled, by_preference, estimate, quotas

    if tokens_per_second is not None and not 0 < tokens_per_second < float("inf"):
        raise BadInput(
            f"--tokens-per-second {tokens_per_second:g}: allowed is a number above 0.\n"
            "Fix: use the output tokens per second that `llmd-gke bench` measured"
        )
    if actual:
        if against is not None or tokens_per_second is not None:
            raise BadInput("--actual cannot be combined with --against or --tokens-per-second.\nFix: leave one out")
        _actual(stack, cloud, output, days)
        return
    target = Target.choose(stack, cloud)
    price = estimate(stack, target.settings)
    if against is not None:
        earlier = revisions.settings_at(target.root, against, stack)
        before = None if earlier is None else estimate(stack, earlier)
        data = as_data.comparison(before, price, against)
        shown = [tables.comparison(stack, before, price, against)]
    else:
        data, shown = as_data.price(price), [tables.price(price)]
    lines: list[str] = []
    if tokens_per_second is not None:
        million = _per_million(stack, price.totals["running"].usd_per_hour, tokens_per_second)
        data |= {"tokensPerSecond": tokens_per_second, "usdPerMillionOutputTokens": round(million, 4)}
        lines.append(f"A million output tokens at {tokens_per_second:,.0f} per second: {million:,.2f} USD")
    lines += [str(model) for model in price.models]
    lines += autoscaled(target.settings)
    lines += by_preference(target.settings)
    lines += [
        f"Quota with every pool at maxNodes: {quota}{f' ({divided[1]})' if divided else ''}, {counted(chips, 'chip')}"
        for (quota, divided), chips in quotas(target.settings).items()
    ]
    lines.append(str(price.besides))
    if price.armor is not None:
        lines.append(str(price.armor))
    if price.besides.limit is not None:
        lines.append(price.besides.limit)
    lines += [str(price.monitoring), *map(str, price.logs)]
    if target.settings.cluster.control_plane == "zonal":
        lines.append(tables.FIRST_ZONAL)
    if output is Output.TABLE and (old := old_prices(date.today())) is not None:
        print(old, file=sys.stderr)
    for finding in (one.finding for one in target.checked.warnings if one.finding.rule == "tpu-zone"):
        print(f"Warning: {finding.problem}: allowed are {finding.allowed}.\nFix: {finding.fix}", file=sys.stderr)
    show(output, data, *shown, *lines, *tables.NOTES)


def _actual(stack: str, cloud: Cloud | None, output: Output, days: float) -> None:
    with starting(f"adding up the node hours of stack {stack}"):
        target = Target.choose(stack, cloud)
        if target.cloud is Cloud.LAPTOP:
            enter(target)
        from operations.cost import actual, as_data, tables

        seconds = days * 86400
        rows = actual.measure(target, seconds)

    notes = actual.NOTES_LAPTOP if target.cloud is Cloud.LAPTOP else actual.NOTES
    show(output, as_data.actual(stack, days, rows, notes), tables.actual(stack, days, rows), *notes)


def _per_million(stack: str, usd_per_hour: float | None, tokens_per_second: float) -> float:
    from operations.cost.estimate import usd_per_million_tokens

    if usd_per_hour is None:
        raise Failed(
            f"Stack {stack} has no public price with all replicas running, so tokens have no price either.\n"
            f"Fix: look at `llmd-gke cost --stack {stack}` for the pool, and ask Google for its price"
        )
    return usd_per_million_tokens(usd_per_hour, tokens_per_second)
