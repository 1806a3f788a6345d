"""Removes programs from the cache that this clone's table does not name: versions and pins of before.

Never by itself: the cache belongs to all clones of a user, and another one may be at such a version.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import psutil
from rich.console import Console

from llmd_gke.laptop.builder import lock
from llmd_gke.laptop.builder.room import MB
from llmd_gke.laptop.builder.wrapper import machine
from llmd_gke.laptop.errors import Busy
from llmd_gke.laptop.programs import place
from llmd_gke.laptop.programs.table import PROGRAMS

Ask = Callable[[str], bool]
"""Asks a question; whether the answer is yes."""


@dataclass(frozen=True)
class Old:
    """A folder of the cache with a program that this clone does not use, and the processes that run it."""

    folder: Path
    size: int
    users: tuple[int, ...]


def old(cache: Path) -> list[Old]:
    """Those for this kind of machine, by name. What else lies there is none of ours."""
    named = re.compile(rf".+-{re.escape(machine())}-[0-9a-f]{{12}}")
    used = {place.built(cache, program).parent for program in PROGRAMS}
    running = _running()
    found: list[Old] = []
    for folder in sorted((cache / "programs").glob("*/")):
        if folder in used or not named.fullmatch(folder.name):
            continue
        files = [file.stat() for file in folder.rglob("*") if file.is_file()]
        users = {pid for file in files for pid in running.get((file.st_dev, file.st_ino), ())}
        found.append(Old(folder, sum(file.st_size for file in files), tuple(sorted(users))))
    return found


def _running() -> dict[tuple[int, int], list[int]]:
    """Device and number of program files, and the processes that run them: paths differ in a pod's own mounts."""
    found: dict[tuple[int, int], list[int]] = {}
    for pid in psutil.pids():
        with contextlib.suppress(OSError):  # gone, or somebody else's
            file = Path(f"/proc/{pid}/exe").stat()
            found.setdefault((file.st_dev, file.st_ino), []).append(pid)
    return found


def prune(cache: Path, console: Console, ask: Ask) -> None:
    """Shows what there is, asks, and removes it; what runs stays. Raises ``Busy`` while programs are built."""

    def say(text: str) -> None:
        console.print(text, highlight=False, soft_wrap=True, markup=False)

    with lock.builder(cache, _busy):
        there = old(cache)
        for one in there:
            running = f"  stays: process {', '.join(map(str, one.users))} runs it" if one.users else ""
            say(f"{one.size / MB:>5.0f} MB  {one.folder.name}{running}")
        free = [one for one in there if not one.users]
        if not free:
            say(f"Nothing to remove: what is in {cache / 'programs'} is used.")
            return
        total = f"{sum(one.size for one in free) / MB:.0f} MB"
        where = cache / "programs"
        if not ask(f"Remove {total} of {where}? Another clone that is at these versions builds them anew."):
            say("Nothing was removed.")
            return
        for one in free:
            shutil.rmtree(one.folder)
        say(f"Removed {total}.")


def _busy(pid: str) -> NoReturn:
    raise Busy(f"Process {pid} builds programs.\nFix: wait until it ends, then run the command again.")
