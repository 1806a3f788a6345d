"""``llmd-gke upgrade``."""

from __future__ import annotations

from typing import Annotated

import typer

from operations.exits import BadInput
from operations.options import DEFAULT_STACK, CloudOption, Output, OutputOption, StackOption
from operations.stop.command import YesOption


def command(
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    yes: YesOption = False,
    *,
    plan: Annotated[bool, typer.Option("--plan/--apply", help="Only show the steps, or carry them out.")] = True,
    crds: Annotated[
        list[str] | None, typer.Option("--crds", help="Component whose CRDs you have applied; may be repeated.")
    ] = None,
) -> None:
    """Move a stack from the versions that it runs to those of this release, one component after the other.

    `--plan` shows the steps in their order: what restarts, CRDs that Helm does not upgrade, what is refused. `--apply`
    runs an `up` of each and checks the stack after it, stops at the first that fails, and goes on there when it is
    called again.

    Exit status 1: a step is refused or failed; 4: not confirmed, or CRDs are to be applied first; 7: the stack is not
    up; 8: a registry does not have a chart.
    """
    from operations.progress import working

    with working(f"reading stack {stack}", quiet_seconds=0):
        from llmd_gke.catalog.upgrades import COMPONENTS
        from operations.target import Target
        from operations.upgrade import run

        known = [one.key for one in COMPONENTS if one.crd_step]
        if unknown := {*(crds or ())} - {*known}:
            raise BadInput(
                f"--crds {min(unknown)}: no such step.\nAllowed: {', '.join(known)}.\nFix: --crds {known[0]}"
            )
        upgrade = run.Upgrade(Target.choose(stack, cloud))
    if plan:
        upgrade.show(output)
    else:
        upgrade.apply(output, crds or (), yes=yes)
