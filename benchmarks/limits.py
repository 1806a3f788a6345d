"""Measures what `make up` may cost at most, and prints a table: ``python benchmarks/limits.py``.

By default the rehearsal of stack ``local`` with everything built: first `make up`, second, preview of ``eu4a``, down,
in a home of its own. Slower parts are asked for: ``--bare`` a new clone with empty caches, ``--laptop`` the first build
of the laptop cloud's programs.

Processor seconds (user and system, of all that was started) carry over from a busy machine, wall time does not.
``least`` is the wall time that they allow on two cores. The status is 1 where a limit does not hold.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
STACK = "STACK=local"
BUILD = (".venv/bin/python", "-m", "localcloud")
SUBREAPER = 36
"""``PR_SET_CHILD_SUBREAPER`` of prctl(2)."""
CHANGED = re.compile(r"^ +[-+~]+ *\d+ (to |created|updated|deleted|replaced)", re.MULTILINE)
"""What the engine says of an update that did something."""


def machine() -> str:
    """The machine in a sentence."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GB of memory, {platform.machine()}, {platform.system()}, Python "
        f"{platform.python_version()}; load average before the first measurement {os.getloadavg()[0]:.1f}"
    )


class Measured(NamedTuple):
    """One line: ``limit`` in seconds of wall time, ``None`` where none is set; ``broken`` says what else is wrong."""

    what: str
    limit: float | None
    wall: float
    processor: float
    broken: str = ""

    @property
    def holds(self) -> bool:
        """Whether the limit holds on this machine, now."""
        return not self.broken and (self.limit is None or self.wall <= self.limit)

    @property
    def verdict(self) -> str:
        """The same in a word, nothing where there is no limit."""
        return self.broken or ("" if self.limit is None else "yes" if self.holds else "NO")


def table(lines: Sequence[Measured], where: str) -> str:
    """All lines, for people and for a page."""
    rows = [
        f"| {one.what} | {'' if one.limit is None else f'{one.limit:g}'} | {one.wall:.1f} | {one.processor:.0f} "
        f"| {one.processor / 2:.0f} | {one.verdict} |"
        for one in lines
    ]
    head = "| Command | Limit, s | Wall, s | Processor, s | Least, s | Holds |\n|---|---|---|---|---|---|"
    return "\n".join([f"Measured on {where}.", "", head, *rows])


def measured(
    what: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    limit: float | None = None,
    folder: Path = ROOT,
    changes: bool = True,
) -> Measured:
    """Runs a command. ``changes``: whether it may change anything. Raises ``CalledProcessError`` when it fails."""
    print(f"... {what}", file=sys.stderr, flush=True)
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, cwd=folder, env=environment, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    wall = time.perf_counter() - began
    reap()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    broken = "it changed something" if not changes and CHANGED.search(done.stdout) else ""
    return Measured(what, limit, wall, used, broken)


def adopt() -> None:
    """Makes this process the parent of processes whose own has ended: else what providers used would not be counted."""
    if ctypes.CDLL(None, use_errno=True).prctl(SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def reap(patience_seconds: float = 10.0) -> None:
    """Waits for every process that was adopted, and not for one that stays."""
    ends = time.monotonic() + patience_seconds
    while time.monotonic() < ends:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            time.sleep(0.05)


def warm() -> list[Measured]:
    """From nothing to nothing, with everything built. What came up goes down again whatever happens."""
    with tempfile.TemporaryDirectory(prefix="limits-") as home:
        own = {**os.environ, "LLMD_GKE_HOME": f"{home}/rehearsal"}
        try:
            return [
                measured("first up", ("make", "up", STACK), own, limit=20),
                measured("second up", ("make", "up", STACK), own, limit=8, changes=False),
                measured("preview of eu4a", ("make", "preview", "STACK=eu4a"), own, limit=4.5),
                measured("down", ("make", "down"), own),
            ]
        finally:
            subprocess.run(("make", "down"), cwd=ROOT, env=own, check=False, stdout=subprocess.DEVNULL)


@contextmanager
def bare() -> Generator[tuple[Path, dict[str, str]]]:
    """A new clone of what is committed here, and an environment in which nothing has been downloaded or built."""
    folder = Path(tempfile.mkdtemp(prefix="limits-bare-"))
    clone = folder / "clone"
    try:
        subprocess.run(("git", "clone", "--quiet", ROOT, clone), check=True)
        goenv = subprocess.run(("go", "env", "GOENV"), check=True, capture_output=True, text=True).stdout.strip()
        environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        environment |= {"HOME": str(folder / "home"), "GOENV": goenv, "GOMODCACHE": str(folder / "modules")}
        environment |= {"LLMD_GKE_CACHE": str(folder / "cache"), "LLMD_GKE_HOME": str(folder / "rehearsal")}
        Path(environment["HOME"]).mkdir()
        yield clone, environment
    finally:
        subprocess.run(("chmod", "-R", "u+w", folder), check=False)  # Go keeps its modules read-only
        shutil.rmtree(folder, ignore_errors=True)


def of_bare(*, laptop: bool) -> list[Measured]:
    """The first `make up` of a machine on which nobody has worked yet, and what is built beside it."""
    lines: list[Measured] = []
    with bare() as (clone, environment):
        try:
            lines.append(measured("bare make up", ("make", "up", STACK), environment, limit=8 * 60, folder=clone))
        finally:
            subprocess.run(("make", "down"), cwd=clone, env=environment, check=False, stdout=subprocess.DEVNULL)
        if laptop:
            programs = (*BUILD, "--cloud", "laptop", "setup")
            lines.append(
                measured("first build of the laptop cloud", programs, environment, limit=25 * 60, folder=clone)
            )
    return lines


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bare", action="store_true", help="also a new clone with empty caches")
    parser.add_argument("--laptop", action="store_true", help="also the laptop cloud's programs from empty caches")
    options = parser.parse_args()
    where = machine()
    adopt()
    lines = warm()
    if options.bare or options.laptop:
        lines += of_bare(laptop=options.laptop)
    print(table(lines, where))
    print(f"\nThe largest process took {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB.")
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
