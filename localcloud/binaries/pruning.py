"""Removes programs and engines from the cache that this clone does not use: those of former versions and pins.

Only on request: the cache belongs to all clones of a user, and another one may need them.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import psutil
from rich.console import Console

from llmd_common.problems import Busy
from localcloud.binaries import plugins
from localcloud.binaries.table import PROGRAMS
from localcloud.go_builds import lock
from localcloud.go_builds.wrapper import machine
from localcloud.pulumi_cli import build as engine


def prune(cache: Path, console: Console, ask: Callable[[str], bool]) -> None:
    """Lists the unused folders, removes those that no process runs if ``ask`` answers yes.

    Raises ``Busy`` during a build.
    """

    def say(text: str) -> None:
        console.print(text, highlight=False, soft_wrap=True, markup=False)

    with lock.builder(cache, _busy):
        running, free, total = _running(), list[Path](), 0.0
        for folder in unused(cache):
            # An engine's programs are links to those in `programs`: each of the links counts a part.
            files = [file.stat() for file in folder.iterdir()]
            size_mb = sum(file.st_size / file.st_nlink for file in files) / (1 << 20)
            pids = [pid for pid, number in running.items() if number in {(file.st_dev, file.st_ino) for file in files}]
            kept = f"  kept: process {', '.join(map(str, pids))} runs it" if pids else ""
            say(f"{size_mb:>5.0f} MB  {folder.name}{kept}")
            if not pids:
                free.append(folder)
                total += size_mb
        if not free:
            say(f"Nothing to remove: every program and engine in {cache} is in use.")
        elif ask(f"Remove {total:.0f} MB of {cache}? Another clone that uses these versions would build them again."):
            for folder in free:
                shutil.rmtree(folder)
            say(f"Removed {total:.0f} MB.")
        else:
            say("Nothing was removed.")


def unused(cache: Path) -> list[Path]:
    """The folders of programs and engines for this kind of machine that this clone does not use, by name."""
    named = re.compile(rf".+-{re.escape(machine())}-[0-9a-f]{{12}}")
    used = {program.path(cache).parent for program in (*PROGRAMS, *engine.PROGRAMS)} | {engine.folder(cache)}
    used |= {plugins.path(program, cache).parent for program in PROGRAMS if program.plugin}
    there = (*cache.glob("programs/*"), *cache.glob("engine-*"))
    return sorted(path for path in there if path not in used and named.fullmatch(path.name))


def _running() -> dict[int, tuple[int, int]]:
    """Processes, with device and number of their program files: paths differ in a pod's own mounts."""
    numbers: dict[int, tuple[int, int]] = {}
    for pid in psutil.pids():
        with contextlib.suppress(OSError):  # ended, or another user's
            file = Path(f"/proc/{pid}/exe").stat()
            numbers[pid] = (file.st_dev, file.st_ino)
    return numbers


def _busy(pid: str) -> NoReturn:
    raise Busy(f"Process {pid} is building programs.\nFix: wait until it ends, then run the command again.")
