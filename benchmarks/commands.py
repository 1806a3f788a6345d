"""How long a command takes until it says something: ``python benchmarks/commands.py [--runs 7]``.

For each command the CPU and wall time of ``--help`` and of a call, until the first output (a result, or a line of
progress), in seconds and divided by those of a bare interpreter, medians of runs taken in turn. Ratios carry over to
other machines, seconds do not. A call is ended when it has said something, before it asks anybody anything.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from rich.console import Console  # noqa: E402
from rich.progress import track  # noqa: E402
from rich.table import Table  # noqa: E402

from operations.cli import COMMANDS  # noqa: E402

LIMIT_SECONDS = 0.5
"""To the first output, on a machine that does nothing else."""

BARE = "bare interpreter"


class Cost(NamedTuple):
    """Seconds until the first byte of output, or until the end where there is none, and CPU seconds until then."""

    wall: float
    cpu: float


def first_output(*arguments: str) -> Cost:
    """Starts an interpreter, waits for its first output, and ends it."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "LLMD_GKE_ROOT": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        process.stdout.read(1)
        wall = time.perf_counter() - began
        process.kill()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measured() -> dict[str, Callable[[], Cost]]:
    """What is measured, by name."""
    run = ("-m", "operations")
    measurements: dict[str, Callable[[], Cost]] = {BARE: lambda: first_output("-c", "")}
    for name in sorted(COMMANDS):
        measurements[f"{name} --help"] = lambda name=name: first_output(*run, name, "--help")
    for name in sorted(COMMANDS):
        against = ("--against", "HEAD") if name == "comment" else ("--stack", "eu4a")
        measurements[name] = lambda name=name, against=against: first_output(*run, name, *against)
    return measurements


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    console = Console(highlight=False)
    costs: dict[str, list[Cost]] = {}
    for number in track(range(runs + 1), "starts", console=console, transient=True):
        for name, take in measured().items():
            cost = take()
            if number:  # the first run writes what Python keeps of compiled modules
                costs.setdefault(name, []).append(cost)
    table = Table(title=f"Seconds to the first output, medians of {runs}; load {os.getloadavg()[0]:.1f}")
    table.add_column("command")
    for heading in ("wall", "CPU", "CPU / bare", f"within {LIMIT_SECONDS} s"):
        table.add_column(heading, justify="right")
    bare = statistics.median(cost.cpu for cost in costs[BARE])
    for name, calls in costs.items():
        wall, cpu = (statistics.median(getattr(cost, part) for cost in calls) for part in Cost._fields)
        table.add_row(name, f"{wall:.2f}", f"{cpu:.2f}", f"{cpu / bare:.1f}", "yes" if wall <= LIMIT_SECONDS else "no")
    console.print(table)


if __name__ == "__main__":
    main()
