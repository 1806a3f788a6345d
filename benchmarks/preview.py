"""What a preview costs: ``python benchmarks/preview.py [--runs 5]``.

Prints the wall time of a preview of stack ``eu4a`` divided by that of an empty program, on the same engine and the
stand-in clouds, medians of runs taken in turn: as an official language host runs it, and with the fast exit of ours.
Also the peak memory of the engine and everything it starts, and what importing the big packages costs.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from rich.console import Console  # noqa: E402
from rich.progress import track  # noqa: E402
from rich.table import Table  # noqa: E402

from localcloud.common.workdir import Workdir, cache_folder  # noqa: E402
from localcloud.pulumi_cli import resolve  # noqa: E402
from localcloud.workflow import commands, config, home  # noqa: E402
from localcloud.workflow.runner import Runner  # noqa: E402
from localcloud.workflow.settings import secrets_of  # noqa: E402

STACK = "eu4a"
EMPTY = "import pulumi\n"
IMPORTS = ("pulumi", "pydantic", "pulumi_gcp.container", "pulumi_gcp.compute", "pulumi_kubernetes.core.v1")


def project(folder: Path, empty: bool) -> Runner:
    """A project folder with a rehearsal of its own: the product's program, or one that does nothing."""
    root = folder / ("empty" if empty else "product")
    root.mkdir()
    for file in ROOT.glob("Pulumi*.yaml"):
        shutil.copy(file, root)
    for name in (".venv", "llmd_common", "llmd_gke", "components", "quick_sdk"):
        (root / name).symlink_to(ROOT / name)
    if empty:
        (root / "__main__.py").write_text(EMPTY)
    else:
        (root / "__main__.py").symlink_to(ROOT / "__main__.py")
    workdir = Workdir(root, root / ".rehearsal")
    engine = resolve.ready(cache_folder())
    if engine is None:
        sys.exit("The engine is not set up. Fix: make up")
    home.prepare(workdir, engine)
    config.sync(workdir, STACK, secrets_of(workdir, STACK))
    runner = Runner(workdir, engine)
    commands.ensure_stack(runner, STACK, select=True)
    return runner


def preview(runner: Runner, fast: bool) -> float:
    """Seconds that one preview takes."""
    os.environ["LLMD_GKE_SDK_DEBUG"] = "0" if fast else "1"
    began = time.perf_counter()
    runner.ask("preview", "--stack", STACK, "--config-file", str(runner.workdir.stack_copy(STACK)))
    return time.perf_counter() - began


def import_seconds(module: str) -> float:
    """CPU seconds of a fresh interpreter that imports a module and ends."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    console = Console(highlight=False)
    os.environ["LLMD_GKE_CLOUD"] = "rehearsal"
    with tempfile.TemporaryDirectory() as folder:
        empty, product = project(Path(folder), empty=True), project(Path(folder), empty=False)
        times: dict[tuple[str, bool], list[float]] = {}
        for _ in track(range(runs + 1), "previews", console=console, transient=True):
            for name, runner in (("empty", empty), ("product", product)):
                for fast in (False, True):
                    times.setdefault((name, fast), []).append(preview(runner, fast))
        medians = {key: statistics.median(taken[1:]) for key, taken in times.items()}  # the first run warms up
    table = Table(
        title=f"Preview of {STACK}, median of {runs}; load now {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs"
    )
    for heading in ("language host", "empty program", STACK, "ratio"):
        table.add_column(heading, justify="left" if heading == "language host" else "right")
    for fast, name in ((False, "as the official one"), (True, "with the fast exit")):
        base, full = medians["empty", fast], medians["product", fast]
        table.add_row(name, f"{base:.2f} s", f"{full:.2f} s", f"{full / base:.2f}")
    console.print(table)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    console.print(f"largest process: {peak:.0f} MB")
    for module in IMPORTS:
        taken = statistics.median(import_seconds(module) for _ in range(3))
        console.print(f"import {module}: {taken:.2f} s of CPU, with the interpreter")


if __name__ == "__main__":
    main()
