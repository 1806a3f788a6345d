"""``llmd-gke comment``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from operations.exits import BadInput
from operations.options import CloudOption, Output, OutputOption
from operations.printing import show
from operations.progress import working
from operations.target import root_folder


def command(
    against: Annotated[str, typer.Option(metavar="REV", help="Git revision to compare with.")] = "origin/main",
    stack: Annotated[
        list[str] | None, typer.Option("--stack", "-s", help="Only this stack; may be repeated. Default: all.")
    ] = None,
    output: OutputOption = Output.TABLE,
    *,
    cloud: CloudOption = None,
    preview: Annotated[
        list[str] | None,
        typer.Option(metavar="STACK=FILE", help="Output of `pulumi preview --json`: the engine's plan for a stack."),
    ] = None,
    base_name: Annotated[str | None, typer.Option(help="Name of REV in the comment. Default: REV itself.")] = None,
    head_name: Annotated[
        str | None, typer.Option(help="Name of the compared version in the comment.", show_default="this change")
    ] = None,
    render: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Render what `--output json` wrote, instead of comparing. Its text is not trusted."
        ),
    ] = None,
    fork: Annotated[
        bool, typer.Option("--fork", help="With --render: warn that the code of a fork wrote FILE.")
    ] = False,
) -> None:
    """Describe what a change does, as a comment for a pull request: Markdown on standard output.

    Shows for every stack the changes, policy violations, chips and price before and after, and the differences of the
    graphs. Both graphs are recorded without an engine and without credentials; `--preview` uses the engine's plan
    instead, which also shows replacements. Values that could be secret are omitted. Exit status 1: `pulumi up` would
    reject a stack; the comment is still written. With `--render` the exit status is 0.
    """
    if render is not None:
        _render(render, base_name, head_name, fork=fork)
        return
    with working(f"comparing with {against}", quiet_seconds=0):
        from operations.comment.data import document
        from operations.comment.markdown import comment
        from operations.comment.report import Collector

        collector = Collector(root_folder(), against, cloud, _previews(preview or []))
        reports = collector.reports(stack or collector.stacks())
    base, head = base_name or against, head_name or "this change"
    show(output, document(reports, base, head), comment(reports, base, head).rstrip("\n"))
    if any(report.bad for report in reports):
        raise typer.Exit(1)


def _render(file: Path, base_name: str | None, head_name: str | None, *, fork: bool) -> None:
    """Prints the comment for a document. ``base_name`` and ``head_name`` override the names in the document."""
    from operations.comment.data import read
    from operations.comment.markdown import comment

    reports, base, head = read(file)
    print(comment(reports, base_name or base, head_name or head, fork=fork), end="")


def _previews(given: list[str]) -> dict[str, Path]:
    wrong = [one for one in given if not all(one.partition("="))]
    if wrong:
        raise BadInput(f"--preview {wrong[0]}: allowed is STACK=FILE.\nFix: --preview eu4a=preview-eu4a.json")
    return {stack: Path(file) for stack, _, file in (one.partition("=") for one in given)}
