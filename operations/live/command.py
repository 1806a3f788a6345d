"""``llmd-gke live``."""

from __future__ import annotations

import json
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import typer

from llmd_gke.wording import cents, counted
from operations.ending_in_order import ending_in_order, interrupted_once
from operations.exits import BadInput, Exit, Failed, Refused
from operations.options import DEFAULT_STACK, Cloud, CloudOption, Output, OutputOption, StackOption
from operations.printing import show
from operations.progress import working
from operations.target import Target

USUAL_HOURS = 1.5
"""Cluster 5 to 10 min, TPU nodes 10 to 15, start of the model 5 to 10, smoke 2, bench 15, destroy 15 to 20."""


@ending_in_order()
def command(
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    *,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Spend the amount shown, without asking for confirmation.")
    ] = False,
    bench_seconds: Annotated[
        float, typer.Option(min=0, help="Duration of each benchmark level in seconds; 0: no benchmark.")
    ] = 20,
    folder: Annotated[Path | None, typer.Option(help="Folder for the report. Default: live/STACK-TIME.")] = None,
) -> None:
    """Create a stack on Google Cloud, test and measure it, answer the open questions, and destroy it again.

    Shows the price and asks for confirmation before spending money. Always destroys the stack at the end, also after a
    failure, Ctrl-C, SIGTERM or a closed terminal; a stack that is already up is rejected. The report (Markdown and
    JSON) and the logs contain no secrets.

    Exit status 0: every step passed or was skipped; 1: one failed; 4: rejected or not confirmed; 130: stopped, after
    the destroy.
    """
    if 0 < bench_seconds < 1:
        raise BadInput(
            f"--bench-seconds {bench_seconds:g}: allowed is 0 for no benchmark, or 1 or more.\nFix: --bench-seconds 30"
        )
    with working(f"reading stack {stack}", quiet_seconds=0):
        from operations.live import report
        from operations.live.evidence import Evidence
        from operations.live.preconditions import check_destroyable, check_free, preflight
        from operations.live.run import Plan, Run

        target = Target.choose(stack, cloud)
        check_destroyable(target)
        price = cost(target, date.today())
    print(price, file=sys.stderr)
    with working("checking whether the stack is already up"):
        check_free(target)
    with working("asking doctor"):
        first = preflight(target)
    if first.verdict == "failed":
        raise Failed(f"{first.text}\nNothing was created.\nFix: llmd-gke doctor --stack {target.stack}")
    consent(target, yes)
    now = datetime.now(UTC)
    plan = Plan(folder or target.root / "live" / f"{stack}-{now:%Y%m%d-%H%M%S}", bench_seconds)
    with interrupted_once("The stack is still destroyed: what is left costs money.\n") as wait:
        with working("up", quiet_seconds=0) as work:
            run = Run(target, plan, work.say)
            run.seen.steps.append(first)
            seen: Evidence = run.all(wait)
        taken = now.strftime("%Y-%m-%d %H:%M UTC")
        data = report.as_data(seen, taken, price)
        text = report.without_secrets(report.as_markdown(seen, taken, price))
        (plan.folder / "report.md").write_text(text, encoding="utf-8")
        (plan.folder / "report.json").write_text(report.without_secrets(json.dumps(data, indent=2)), encoding="utf-8")
    show(output, data, text, f"Report: {plan.folder / 'report.md'}")
    if seen.verdict("interrupted"):
        raise typer.Exit(Exit.STOPPED)
    failed = [step.name for step in seen.steps if step.verdict == "failed"]
    if failed:
        raise Failed(f"Failed: {', '.join(failed)}. See {plan.folder / 'report.md'}.")


def cost(target: Target, today: date) -> str:
    """A sentence on the price of the run, and a second one if the price table is old; no number without a price."""
    if target.cloud is not Cloud.GOOGLE:
        return f"The {target.cloud.value} costs nothing."
    from llmd_gke.catalog.zones import PRICES_AS_OF, old_prices
    from operations.cost.estimate import estimate

    amount = estimate(target.stack, target.settings).totals["running"]
    if amount.usd_per_hour is None:
        return f"{counted(amount.chips, 'TPU chip')}, which have no public price, for about {USUAL_HOURS} h."
    total = amount.usd_per_hour * USUAL_HOURS
    age = old_prices(today)
    return (
        f"{counted(amount.chips, 'TPU chip')}: {cents(amount.usd_per_hour):,.2f} USD per hour, list price of "
        f"{PRICES_AS_OF}, so about {total:,.0f} USD for {USUAL_HOURS} h; plus system nodes, disks and traffic."
        + ("" if age is None else f" {age}")
    )


def consent(target: Target, yes: bool) -> None:
    """Asks for confirmation before money is spent. Raises ``Refused`` without consent or without a terminal."""
    if yes or target.cloud is not Cloud.GOOGLE:
        return
    if not sys.stdin.isatty():
        raise Refused(f"There is no terminal to ask for confirmation.\nFix: llmd-gke live --stack {target.stack} --yes")
    question = f"Create stack {target.stack} in project {target.settings.project}, and destroy it at the end? [y/N] "
    print(question, end="", file=sys.stderr, flush=True)
    if input().strip().lower() not in ("y", "yes"):
        raise Refused("Nothing was created.")
