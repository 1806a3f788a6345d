"""``llmd-gke rollout``."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from operations.exits import BadInput
from operations.options import DEFAULT_STACK, CloudOption, Output, OutputOption, StackOption
from operations.progress import working
from operations.stop.command import ModelOption, YesOption
from operations.target import Target

UNITS = {"s": 1, "m": 60, "h": 3600}


def command(
    stack: StackOption = DEFAULT_STACK,
    model: ModelOption = None,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    *,
    to: Annotated[str | None, typer.Option(help="The version that requests move to.")] = None,
    percent: Annotated[int, typer.Option(min=1, max=100, help="Part of the requests that it answers then.")] = 100,
    step: Annotated[
        int | None, typer.Option(min=1, max=99, help="Move so many percent at a time. Default: at once.")
    ] = None,
    every: Annotated[str, typer.Option(metavar="TIME", help="Time between two steps, such as 90s, 5m, 1h.")] = "5m",
    check: Annotated[
        str, typer.Option(help="Checks after each step, `smoke,bench,alerts`; all requests go back if one fails.")
    ] = "",
    back: Annotated[bool, typer.Option("--back", help="Take all requests back, in one step.")] = False,
    yes: YesOption = False,
) -> None:
    """Move requests from one version of a model to another: write `rollout` to the stack file, and run `up`.

    Versions are in the stack file, and both are up before requests move (docs/models.md). Each step changes a route
    only: no pod and no connection ends. The file always says where a rollout stands, also after Ctrl-C, which prints
    how to go on.

    Exit status 1: an update or a check failed; 2: there is no such version, or another one is between 0 and 100
    percent; 4: not confirmed, and the file is unchanged; 5: another process makes a rollout, or somebody has changed
    the file between two steps; 7: the stack or the version is not up.
    """
    with working(f"reading stack {stack}", quiet_seconds=0):
        from operations import models
        from operations.rollout import plan as plans
        from operations.rollout.checks import Check
        from operations.rollout.run import rollout
        from operations.stack_change import StackChange

        if back == (to is not None) or (back and (percent < 100 or step or check)):
            raise BadInput("One of --to and --back says where requests go.\nFix: --to VERSION, or --back alone")
        time = re.fullmatch(r"([1-9]\d{0,4})([smh])", every)
        if time is None:
            raise BadInput(f"--every {every} is not a time.\nAllowed: 1 to 99999 and s, m or h.\nFix: --every 5m")
        unknown = {one for one in check.split(",") if one} - {*Check}
        if unknown:
            raise BadInput(f"--check: there is no check {', '.join(sorted(unknown))}.\nFix: --check {','.join(Check)}")
        target = Target.choose(stack, cloud)
        one = models.versions(target, model)[0]
        plan = plans.back(one) if to is None else plans.forward(one, to, percent, step)
    name = f"llmd-gke rollout --model {one.model_name} --stack {target.stack}"
    options = (f" --step {step} --every {every}" if step else "") + (f" --check {check}" if check else "")
    again = f"{name} --back" if to is None else f"{name} --to {to} --percent {percent}{options}"
    change = StackChange(target, "rollout", again, one.model_name, f"{name} --back")
    with change.alone():
        rollout(
            change,
            plan,
            every=int(time[1]) * UNITS[time[2]],
            checks=[Check(one) for one in check.split(",") if one],
            output=output,
            yes=yes,
        )
