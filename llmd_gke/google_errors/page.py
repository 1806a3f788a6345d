"""Prints the table of docs/troubleshooting.md: ``python -m llmd_gke.google_errors.page``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from llmd_gke.google_errors import ERRORS


def table(rows: Iterable[tuple[str, str, str]]) -> str:
    """A table in Markdown: seen, meaning, what to do; ``{stack}`` and other pages' paths may be in the cells."""
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    text = "\n".join(["| You see | It means | Do |", "|---|---|---|", *lines])
    return re.sub(r"docs/([\w-]+)\.md", r"[\1](\1.md)", text).replace("{stack}", "STACK")


if __name__ == "__main__":
    print(table((one.shown, one.cause, one.fix) for one in ERRORS))
