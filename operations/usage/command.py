"""``llmd-gke usage``."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from operations.enter_localcloud import enter, starting
from operations.exits import BadInput
from operations.options import DEFAULT_STACK, CloudOption, Output, OutputOption, StackOption
from operations.printing import as_data, show, table
from operations.target import Target


def command(
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    days: Annotated[
        float, typer.Option(min=0.01, max=400, metavar="N", help="The period: the last N days; 0.5 is 12 hours.")
    ] = 1.0,
) -> None:
    """Show requests and tokens by caller and model of the front door, for a period that ends now.

    The figures come from the proxies' metrics. Prometheus extrapolates to the ends of the period, so they differ
    slightly from the counts of the limits. Both keys of a caller count as one caller. Streams that the client or the
    model ended early are not among requests and tokens.
    """
    with starting(f"asking for the usage of stack {stack}"):
        target = Target.choose(stack, cloud)
        _has_usage(target)
        enter(target)
        from operations.prometheus import access
        from operations.usage.amounts import ask

        seconds, now = round(days * 86400), time.time()
        usage = access.answer(target, lambda prometheus: ask(prometheus, target.settings, seconds, now))
    data = {
        "stack": target.stack,
        "cloud": target.cloud.value,
        "days": days,
        "usage": [{key: value for key, value in as_data(one).items() if value != ""} for one in usage],
    }
    versions = any(one.version for one in usage)
    made = table(
        f"Stack {target.stack}: usage of the last {days:g} days",
        ("caller", "model", *(["version"] if versions else [])),
        ("requests", "input tokens", "output tokens", "streams ended early"),
    )
    for one in usage:
        named = (one.caller, one.model, *([one.version] if versions else []))
        numbers = (one.requests, one.input_tokens, one.output_tokens, one.streams_ended_early)
        made.add_row(*named, *(f"{number:,}" for number in numbers))
    show(output, data, made if usage else f"Stack {target.stack}: no usage in the last {days:g} days")


def _has_usage(target: Target) -> None:
    if target.settings.front_door is None:
        raise BadInput(
            f"llmd-gke:frontDoor is not set in stack {target.stack}, so its callers are unknown.\n"
            "Fix: set llmd-gke:frontDoor (docs/front-door.md)"
        )
    if not target.settings.monitoring.scrape:
        raise BadInput(
            f"llmd-gke:monitoring.scrape = false: the metrics of stack {target.stack} are not collected.\n"
            f"Fix: remove `scrape: false` from llmd-gke:monitoring, then {target.up}"
        )
