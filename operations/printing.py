"""Results on standard output: tables for people, one JSON document for programs; and words for both."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from operations.options import Output

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

PIPE_WIDTH = 120
"""Columns if standard output is not a terminal and COLUMNS is not set."""


def show(output: Output, data: Mapping[str, object] | Sequence[object], *shown: RenderableType) -> None:
    """Prints ``data`` as JSON, or ``shown``, one below the other."""
    if output is Output.JSON:
        print(json.dumps(data, indent=2, ensure_ascii=False))
        return
    import os

    from rich.console import Console

    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else PIPE_WIDTH
    console = Console(highlight=False, width=width)
    for one in shown:
        if isinstance(one, str):
            print(one)  # as it is: brackets in a name are no markup
        else:
            console.print(one)


def short(message: str, most: int = 240) -> str:
    """One line of a message, of at most so many characters."""
    line = " ".join(message.split())
    return line if len(line) <= most else line[: most - 4] + " ..."


def last_line(text: str) -> str:
    """The last line of a log with something in it; empty if there is none."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


def table(title: str, texts: Sequence[str], numbers: Sequence[str] = (), *, no_wrap: bool = False) -> Table:
    """A table with columns of texts, and then of numbers, which are on the right."""
    from rich.table import Table

    made = Table(title=title, title_justify="left")
    for heading in texts:
        made.add_column(heading, no_wrap=no_wrap)
    for heading in numbers:
        made.add_column(heading, justify="right", no_wrap=no_wrap)
    return made


def as_data(one: object, digits: int = 6) -> dict[str, object]:
    """A dataclass as JSON has it: keys in camel case, numbers with at most ``digits`` decimal places."""
    return {
        re.sub("_(.)", lambda found: found[1].upper(), key): round(one, digits) if isinstance(one, float) else one
        for key, one in vars(one).items()
    }
