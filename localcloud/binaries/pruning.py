"""Removes programs and engines from the cache that this clone does not use: those of former versions and pins.

Only on request: the cache belongs to all clones of a user, and another one may need them.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import psutil
from rich.console import Console

from llmd_common.problems import Busy
from localcloud.binaries import cache_key
from localcloud.binaries.table import BY_NAME
from localcloud.go_builds import lock
from localcloud.go_builds.capacity_check import MB
from localcloud.go_builds.wrapper import machine
from localcloud.pulumi_cli import cache_key as engine

Ask = Callable[[str], bool]
"""Asks a question; returns whether the answer was yes."""


@dataclass(frozen=True)
class Old:
    """A folder of the cache (or a part of an engine) that this clone does not use, and the processes that run it.

    ``size``: bytes that its removal frees.
    """

    path: Path
    size: int
    users: tuple[int, ...]


def old(cache: Path) -> list[Old]:
    """The unused folders for this kind of machine, by name. Other files in the cache are left out."""
    named = re.compile(rf".+-{re.escape(machine())}-[0-9a-f]{{12}}")
    used = {cache_key.built(cache, program).parent for program in BY_NAME.values()}
    used |= {engine.built(cache), *engine.parts(cache).values()}
    # An engine's programs are hard links to its parts: a file with several names is counted once, one in use not at
    # all.
    counted = {_number(file) for path in used for file in _files(path)}
    running = _running()
    outdated: list[Old] = []
    for path in sorted(one for pattern in ("programs/*", "engine-*", "parts/*") for one in cache.glob(pattern)):
        if path in used or not named.fullmatch(path.name):
            continue
        files = {_number(file): file.st_size for file in _files(path)}
        users = {pid for number in files for pid in running.get(number, ())}
        outdated.append(Old(path, sum(files[number] for number in files.keys() - counted), tuple(sorted(users))))
        counted |= files.keys()
    return outdated


def _files(path: Path) -> list[os.stat_result]:
    """``os.stat`` of a file, or of every file in a folder."""
    return [file.stat() for file in (path, *path.rglob("*")) if file.is_file()]


def _number(file: os.stat_result) -> tuple[int, int]:
    return file.st_dev, file.st_ino


def _running() -> dict[tuple[int, int], list[int]]:
    """Device and number of program files, and the processes that run them: paths differ in a pod's own mounts."""
    pids: dict[tuple[int, int], list[int]] = {}
    for pid in psutil.pids():
        with contextlib.suppress(OSError):  # ended, or another user's
            file = Path(f"/proc/{pid}/exe").stat()
            pids.setdefault(_number(file), []).append(pid)
    return pids


def prune(cache: Path, console: Console, ask: Ask) -> None:
    """Lists the unused folders, asks, and removes them, except running programs. Raises ``Busy`` during a build."""

    def say(text: str) -> None:
        console.print(text, highlight=False, soft_wrap=True, markup=False)

    with lock.builder(cache, _busy):
        there = old(cache)
        for one in there:
            running = f"  kept: process {', '.join(map(str, one.users))} runs it" if one.users else ""
            say(f"{one.size / MB:>5.0f} MB  {one.path.name}{running}")
        free = [one for one in there if not one.users]
        if not free:
            say(f"Nothing to remove: every program and engine in {cache} is in use.")
            return
        total = f"{sum(one.size for one in free) / MB:.0f} MB"
        if not ask(f"Remove {total} of {cache}? Another clone that uses these versions would build them again."):
            say("Nothing was removed.")
            return
        for one in free:
            shutil.rmtree(one.path) if one.path.is_dir() else one.path.unlink()
        say(f"Removed {total}.")


def _busy(pid: str) -> NoReturn:
    raise Busy(f"Process {pid} is building programs.\nFix: wait until it ends, then run the command again.")
