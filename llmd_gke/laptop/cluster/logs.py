"""The logs of the processes: their end, for messages, and their size."""

from __future__ import annotations

import shutil
from pathlib import Path

LIMIT = 20 << 20
"""A log larger than this moves to NAME.previous.log."""


def tail(log: Path, lines: int = 8, width: int = 400) -> str:
    """The last lines of a log, indented, each cut at ``width`` characters."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - lines * 4096))
            found = file.read().decode(errors="replace").splitlines()
    except OSError:
        return "  (there is none)"
    return "\n".join(f"  {line[:width]}" for line in found[-lines:]) or "  (it is empty)"


def previous(log: Path) -> Path:
    """Where the older part of a log goes."""
    return log.with_suffix(".previous.log")


def rotate(log: Path, limit: int = LIMIT) -> None:
    """Starts a log anew when it is too large. The process appends to it, so it goes on at its beginning."""
    try:
        if log.stat().st_size > limit:
            shutil.copyfile(log, previous(log))
            with log.open("r+b") as file:
                file.truncate(0)
    except FileNotFoundError:
        return
