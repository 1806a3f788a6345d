"""One process at a time: `make up` or `make down` of a cloud, the start of its cluster, a builder of programs."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import IO, NoReturn

from llmd_common.problems import Busy
from localcloud.common.workdir import Workdir


@contextlib.contextmanager
def exclusive(workdir: Workdir, what: str) -> Generator[None]:
    """A lock that is held while ``what`` runs; the system releases it when the process exits. Raises ``Busy`` with the
    name of the holder.
    """

    def busy(holder: str) -> NoReturn:
        raise Busy(
            f"Another run is using this {workdir.label}: {holder}.\n"
            "Fix: wait until it finishes (or stop it there with Ctrl-C), then run the command again."
        )

    with in_turn(workdir.run_lock, busy, f"process {os.getpid()} (make {what})") as file:
        try:
            yield
        finally:
            file.truncate(0)


@contextlib.contextmanager
def in_turn(file: Path, waiting: Callable[[str], None], holder: str = "") -> Generator[IO[str]]:
    """A lock that others wait for, after they have called ``waiting`` with the holder, by default its process id."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            opened.seek(0)
            waiting(opened.read().strip() or "unknown")
            fcntl.flock(opened, fcntl.LOCK_EX)
        opened.seek(0)
        opened.truncate()
        opened.write(holder or str(os.getpid()))
        opened.flush()
        yield opened
