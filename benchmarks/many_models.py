"""What a stack of many models costs: ``python benchmarks/many_models.py [--models 50]``.

Prints the time of ``make preview``, the first ``make up``, an ``up`` without changes, one that adds a model, and
``make down``, with the number of resources, for one model and for many, on the real engine and the stand-in clouds
with policies. Nothing is asserted: the numbers belong to the machine that is printed with them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import yaml  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from localcloud.common.workdir import Workdir, cache_folder  # noqa: E402
from localcloud.pulumi_cli import resolve  # noqa: E402
from localcloud.workflow import cloud_files, state  # noqa: E402

STACK = "local"
FAULTS = {"enabledApis": ["*"], "timeScale": 0.001, "quota": {"CT6E": 1_000_000}}
LINKED = ("__main__.py", "components", "llmd_gke", "policies", ".venv")


def write_stack(workdir: Workdir, models: int) -> None:
    """The stack file with that many models, each on one host of one chip, and a spare host."""
    content = yaml.safe_load((ROOT / f"Pulumi.{STACK}.yaml").read_text())
    content["config"]["llmd-gke:tpuPools"] = [
        {"name": "v6e1", "machineType": "ct6e-standard-1t", "topology": "1x1", "maxNodes": models + 1}
    ]
    content["config"]["llmd-gke:models"] = [
        {"name": f"model-{number}", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e1"} for number in range(models)
    ]
    workdir.stack_file(STACK).write_text(yaml.safe_dump(content, sort_keys=False))


def make(workdir: Workdir, command: str) -> float:
    """Seconds that a target of the Makefile takes."""
    environment = {
        **os.environ,
        "LLMD_GKE_HOME": str(workdir.home),
        "LLMD_GKE_ROOT": str(workdir.root),
        "LLMD_GKE_FAULTS": str(workdir.root / "faults.json"),
        "PYTHONPATH": str(ROOT),
    }
    began = time.perf_counter()
    command_line = [sys.executable, "-m", "localcloud", command, "--stack", STACK]
    done = subprocess.run(
        command_line, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        sys.exit(f"{command} failed:\n{done.stdout}")
    return time.perf_counter() - began


def measure(models: int) -> tuple[int, int, list[float]]:
    """Resources in the state, objects in the clouds, and the seconds of each step."""
    with tempfile.TemporaryDirectory() as folder:
        workdir = Workdir(Path(folder) / "project", Path(folder) / "home")
        workdir.root.mkdir()
        for name in LINKED:
            (workdir.root / name).symlink_to(ROOT / name)
        shutil.copy(ROOT / "Pulumi.yaml", workdir.root)
        (workdir.root / "faults.json").write_text(json.dumps(FAULTS))
        write_stack(workdir, models)
        try:
            times = [make(workdir, command) for command in ("preview", "up", "up")]
            made = state.read(workdir, STACK)
            resources, objects = len(made.urns) if made else 0, len(cloud_files.objects(workdir))
            write_stack(workdir, models + 1)
            times.append(make(workdir, "up"))
        finally:
            down = make(workdir, "down")
        return resources, objects, [*times, down]


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=50)
    many = parser.parse_args().models
    if resolve.ready(cache_folder()) is None:
        sys.exit("The engine is not set up. Fix: make up")
    console = Console(highlight=False)
    table = Table(title=f"Stacks of 1 and {many} models in the rehearsal, seconds of wall time")
    for heading in ("models", "resources", "objects", "preview", "first up", "up, no change"):
        table.add_column(heading, justify="right", min_width=min(9, len(heading)))
    for heading in ("one model more", "down"):
        table.add_column(heading, justify="right", min_width=min(9, len(heading)))
    for models in (1, many):
        resources, objects, times = measure(models)
        table.add_row(str(models), str(resources), str(objects), *(f"{seconds:.1f}" for seconds in times))
    console.print(table)
    load = os.getloadavg()[0]
    console.print(
        f"{platform.machine()}, {os.cpu_count()} CPUs, load now {load:.1f}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.release()}"
    )


if __name__ == "__main__":
    main()
