"""``llmd-gke comment``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from operations.options import CloudOption, Output, OutputOption

if TYPE_CHECKING:
    from operations.comment.report import Report


def command(
    against: Annotated[str, typer.Option(metavar="REV", help="The git revision to compare with.")] = "origin/main",
    stack: Annotated[
        list[str] | None, typer.Option("--stack", "-s", help="Only this one; may be repeated. Default: all.")
    ] = None,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    preview: Annotated[
        list[str] | None,
        typer.Option(metavar="STACK=FILE", help="Output of `pulumi preview --json`: the engine's plan for a stack."),
    ] = None,
    base_name: Annotated[str | None, typer.Option(help="How the comment calls REV. Default: REV itself.")] = None,
    head_name: Annotated[str, typer.Option(help="How the comment calls what is compared with it.")] = "this change",
) -> None:
    """Write what a change does, as the comment of a pull request: Markdown on standard output.

    For every stack: what changes, what the policies say, chips and price before and after, and the difference of the
    graphs. Both graphs are recorded without an engine and without credentials; `--preview` takes the engine's plan
    instead, which also knows what is replaced. Values that could be secret are left out.
    Exit status 1: `pulumi up` would refuse a stack. The comment is written all the same.
    """
    from operations.progress import working

    with working(f"comparing with {against}", quiet_seconds=0):
        from operations.comment.markdown import comment
        from operations.comment.report import Collector
        from operations.target import root_folder

        collector = Collector(root_folder(), against, cloud, _previews(preview or []))
        reports = collector.reports(stack or collector.stacks())
    from operations.printing import show

    text = comment(reports, base_name or against, head_name)
    show(output, {"comment": text, "stacks": [_data(report) for report in reports]}, text.rstrip("\n"))
    if any(report.bad for report in reports):
        raise typer.Exit(1)


def _previews(given: list[str]) -> dict[str, Path]:
    from operations.exits import BadInput

    wrong = [one for one in given if not all(one.partition("="))]
    if wrong:
        raise BadInput(f"--preview {wrong[0]}: allowed is STACK=FILE.\nFix: --preview eu4a=preview-eu4a.json")
    return {stack: Path(file) for stack, _, file in (one.partition("=") for one in given)}


def _data(report: Report) -> dict[str, object]:
    from operations.cost import as_data

    return {
        "stack": report.stack,
        "status": report.status,
        "changes": [{"op": one.op, "name": one.name, "type": one.type} for one in report.changes],
        "planned": report.planned,
        "policies": [
            {"policy": one.policy, "mandatory": one.mandatory, "resource": one.resource, "message": one.message}
            for one in report.verdicts
        ],
        "before": None if report.before is None else as_data.price(report.before),
        "after": None if report.after is None else as_data.price(report.after),
        "problem": report.problem,
    }
