"""``python benchmarks/figures.py`` writes ``docs/contributing/figures.md``: what common commands cost, and where.

Each figure is the wall time of a whole command in this clone: commands for operators (medians of ``--runs``, 5 unless
given), then the rehearsal of stack ``local`` from nothing to nothing, and with ``--laptop`` the laptop cloud's. Nothing
may be up before. Stops, and leaves the page as it is, when a command fails.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

PAGE = ROOT / "docs" / "contributing" / "figures.md"
MANY_MODELS = "## Many models"
"""Heading of the part that ``python benchmarks/many_models.py --write`` writes."""
HELP = ("cost --help", "status --help")
CALLS = ("cost --stack eu4a",)
STEPS = ("up", "up", "preview", "down")


class Figure(NamedTuple):
    """What was measured, and how long it took, in seconds."""

    what: str
    seconds: float


def machine() -> str:
    """The machine in a sentence."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GB of memory, {platform.machine()}, {platform.system()}, Python "
        f"{platform.python_version()}; load average before the first measurement {os.getloadavg()[0]:.1f}"
    )


def page(where: str, day: date, figures: Sequence[Figure]) -> str:
    """The page."""
    rows = "\n".join(f"| `{figure.what.replace('|', chr(92) + '|')}` | {figure.seconds:.2f} |" for figure in figures)
    return (
        "# Figures\n\n"
        "Made by `python benchmarks/figures.py`, not by hand. Seconds of wall time; they carry over to another\n"
        "machine only in their order of magnitude, and a load average above the number of cores makes them longer.\n\n"
        f"Measured {day.isoformat()} on {where}.\n\n"
        f"| Command | Seconds |\n|---|---|\n{rows}\n"
    )


def kept(before: str) -> str:
    """The parts of the page that other commands wrote: all from the first heading of its level on."""
    parts = _parts(before)[1:]
    return f"\n{''.join(parts)}" if parts else ""


def with_part(before: str, heading: str, text: str) -> str:
    """The page with the part of that heading replaced by ``text``, or added after the first one."""
    first, *others = _parts(before)
    if not any(part.startswith(f"{heading}\n") for part in others):
        others = [f"{heading}\n", *others]
    return "".join([first.rstrip() + "\n\n", *(text if part.startswith(f"{heading}\n") else part for part in others)])


def _parts(page: str) -> list[str]:
    return re.split(r"(?m)^(?=## )", page)


def seconds(*command: str) -> float:
    """How long a command takes. Raises ``CalledProcessError`` when it fails."""
    began = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def of_commands(runs: int) -> list[Figure]:
    """Commands for operators; the first run, which writes what Python keeps of compiled modules, is left out."""
    figures: list[Figure] = []
    for command in (*HELP, *CALLS):
        taken = [seconds(sys.executable, "-m", "operations", *command.split()) for _ in range(runs + 1)][1:]
        figures.append(Figure(f"llmd-gke {command}", statistics.median(taken)))
    return figures


def of_cloud(cloud: str) -> list[Figure]:
    """A local cloud from nothing to nothing, with everything built before."""
    figures: list[Figure] = []
    for step in STEPS:
        again = " (nothing to do)" if step == "up" and figures else ""
        figures.append(
            Figure(f"make {step} CLOUD={cloud}{again}", seconds("make", step, f"CLOUD={cloud}", "STACK=local"))
        )
    return figures


def main() -> None:
    """Measures and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--laptop", action="store_true", help="measure the laptop cloud, too")
    options = parser.parse_args()
    where = machine()
    figures = [*of_commands(options.runs), *of_cloud("rehearsal")]
    if options.laptop:
        figures += of_cloud("laptop")
    PAGE.write_text(page(where, date.today(), figures) + kept(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
