"""Results on standard output: tables for people, one JSON document for programs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from operations.options import Output

if TYPE_CHECKING:
    from rich.console import RenderableType

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


def as_data(one: object, digits: int = 6) -> dict[str, object]:
    """A dataclass as JSON has it: keys in camel case, numbers with at most ``digits`` decimal places."""
    return {
        re.sub("_(.)", lambda found: found[1].upper(), key): round(one, digits) if isinstance(one, float) else one
        for key, one in vars(one).items()
    }
