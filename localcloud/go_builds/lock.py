"""One builder at a time: two at once would not fit into memory."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def builder(cache: Path, waiting: Callable[[str], None]) -> Generator[IO[str]]:
    """The lock of the builder. Others call ``waiting`` with the builder's process id, and wait."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "building.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            waiting(file.read().strip() or "unknown")
            fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        yield file
