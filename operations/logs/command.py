"""``llmd-gke logs``."""

from __future__ import annotations

from typing import Annotated

import typer

from operations.exits import BadInput
from operations.options import DEFAULT_STACK, CloudOption, Output, OutputOption, StackOption
from operations.printing import show
from operations.progress import working
from operations.target import Target


def command(
    question: Annotated[
        str | None, typer.Argument(metavar="[QUESTION]", help="One of the listed keys; without it, all are listed.")
    ] = None,
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    link: Annotated[
        bool, typer.Option("--link", help="Print the link to the Logs Explorer in place of the query.")
    ] = False,
) -> None:
    """Print the query that answers a question about a stack, in the Logging query language.

    It reads only the settings: the stack need not be up. Pass the query to `gcloud logging read`, or open the link.
    """
    with working(f"reading the settings of stack {stack}", quiet_seconds=0):
        from llmd_gke.manifests import logs

        settings = Target.choose(stack, cloud).settings
        by_key = {query.key: query for query in logs.queries(settings)}
    if question is not None and question not in by_key:
        raise BadInput(
            f"{question} is not one of the questions.\nAllowed: {', '.join(by_key)}\nFix: llmd-gke logs --stack {stack}"
        )
    if question is not None:
        query = by_key[question]
        data = {**vars(query), "link": logs.link(query, settings)}
        show(output, data, data["link"] if link else query.filter)
        return
    rows = [f"| `{query.key}` | {query.question} | {query.reading} |" for query in by_key.values()]
    listed = [{**vars(query), "link": logs.link(query, settings)} for query in by_key.values()]
    shown = (
        [one["link"] for one in listed] if link else ["| Key | Question | What to look at |", "|---|---|---|", *rows]
    )
    show(output, listed, "\n".join(shown))
