"""The logs of processes and containers: their end, for messages, and their size."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from localcloud.common.layout import Layout

LIMIT = 20 << 20
"""Bytes of a process's log from which it is moved to NAME.previous.log."""

CONTAINER_LIMIT = 10 << 20
"""Bytes of a container's log; the kubelet's default (``containerLogMaxSize``)."""


def tail(log: Path, lines: int = 8, width: int = 400) -> str:
    """The last lines of a log, indented, each cut at ``width`` characters."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - lines * 4096))
            content = file.read().decode(errors="replace").splitlines()
    except OSError:
        return "  (there is none)"
    return "\n".join(f"  {line[:width]}" for line in content[-lines:]) or "  (it is empty)"


def previous(log: Path) -> Path:
    """The file with the older part of a log."""
    return log.with_suffix(".previous.log")


def rotate(log: Path, limit: int = LIMIT) -> None:
    """Truncates a log that is too large; its last part, as long as the limit, is kept in a second file.

    The process appends, so it continues at the beginning of the file. Output written at that moment is lost.
    """
    try:
        size = log.stat().st_size
        if size <= limit:
            return
        older = previous(log)
        try:
            with log.open("rb") as file, older.open("wb") as copy:
                file.seek(size - limit)
                shutil.copyfileobj(file, copy, 1 << 20)
        except OSError:
            # The disk may be full: then free space matters more than the log's content.
            older.unlink(missing_ok=True)
        os.truncate(log, 0)
    except FileNotFoundError:
        return


def keep_small(layout: Layout) -> None:
    """Rotates every log of a cluster that is too large."""
    for log, limit in _all(layout):
        if not log.name.endswith(".previous.log"):
            rotate(log, limit)


def _all(layout: Layout) -> Iterator[tuple[Path, int]]:
    for log in (*layout.logs.glob("*.log"), *layout.root.glob("gateway/envoy/*.log")):
        yield log, LIMIT
    for log in layout.pods.glob("*/*.log"):
        yield log, CONTAINER_LIMIT
