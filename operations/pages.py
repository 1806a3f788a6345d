"""Keeps the output of commands in pages up to date: ``python -m operations.pages``.

In a page, a comment ``<!-- made by `llmd-gke graph --stack eu4a` (make docs) -->`` precedes a fenced block or a table;
the block's content, or the table, is the output of the command (or of ``python -m MODULE``). A link ``![…](file.svg)``
below such a comment refers to a file with that output.
"""

from __future__ import annotations

import io
import re
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from llmd_common import child_process
from operations import cli

ROOT = Path(__file__).parents[1]
MARK = re.compile(r"<!-- made by `(?P<words>(?:llmd-gke|python -m) [^`]+)` \(make docs\) -->\n\n?")
FENCE = re.compile(r"(?P<fence>`{3,})(?P<info>[^\n]*)\n.*?^(?P=fence)$", re.S | re.M)
TABLE = re.compile(r"(?:^\|[^\n]*\n)+", re.M)
IMAGE = re.compile(r"!\[[^\]]*\]\((?P<file>[^)]+)\)")


def pages(root: Path) -> list[Path]:
    """Every page that may contain such a block."""
    return sorted([*root.glob("*.md"), *root.glob("docs/*.md")])


def made(command: str) -> str:
    """The standard output of a command. Raises ``RuntimeError`` if it fails."""
    program, *rest = shlex.split(command)
    if program == "python":
        done = child_process.run([sys.executable, *rest], folder=ROOT)
        status, printed, errors = done.returncode, done.stdout, done.stderr
    else:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            status = cli.main(rest)
        printed, errors = out.getvalue(), err.getvalue()
    if status:
        raise RuntimeError(f"{command} ended with status {status}: {errors}")
    return "\n".join(line.rstrip() for line in printed.splitlines()) + "\n"


def fresh(page: Path) -> dict[Path, str]:
    """The page and the files that it shows, with current content. Raises ``ValueError`` for a mark without a block."""
    text, at, pictures = page.read_text(encoding="utf-8"), 0, dict[Path, str]()
    while mark := MARK.search(text, at):
        content = made(mark["words"])
        if block := FENCE.match(text, mark.end()):
            new = f"{block['fence']}{block['info']}\n{content}{block['fence']}"
            text = text[: block.start()] + new + text[block.end() :]
            at = block.start() + len(new)
        elif rows := TABLE.match(text, mark.end()):
            text = text[: rows.start()] + content + text[rows.end() :]
            at = rows.start() + len(content)
        elif image := IMAGE.match(text, mark.end()):
            pictures[page.parent / image["file"]] = content
            at = image.end()
        else:
            raise ValueError(f"{page}: neither a block, a table nor an image follows {mark.group().strip()}")
    return {page: text, **pictures}


def main() -> None:
    """Writes every page and picture."""
    for page in pages(ROOT):
        for file, text in fresh(page).items():
            file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
