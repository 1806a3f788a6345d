"""What a stack of many models costs: ``python benchmarks/many_models.py [--models 50 100]``.

Prints the time of ``make preview``, the first ``make up``, an ``up`` without changes, one that adds a model, and
``make down``, with the number of resources and the memory of the largest process, for one model and for many, on the
real engine and the stand-in clouds with policies. Nothing is asserted: the numbers belong to the machine that is
printed with them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import yaml  # noqa: E402

from benchmarks.limits import machine  # noqa: E402
from localcloud.common.workdir import Workdir, cache_folder  # noqa: E402
from localcloud.pulumi_cli import resolve  # noqa: E402
from localcloud.workflow import cloud_files, state  # noqa: E402

STACK = "local"
FAULTS = {"enabledApis": ["*"], "quota": {"CT6E": 1_000_000}}
LINKED = ("__main__.py", "components", "llmd_common", "llmd_gke", "policies", "quick_sdk", ".venv")

STEPS = ("preview", "first up", "up, no change", "one model more", "down")


class StackCost(NamedTuple):
    """A stack of so many models: resources in its state, objects in the clouds, and of each of :data:`STEPS` the
    seconds, and the megabytes of the largest process.
    """

    models: int
    resources: int
    objects: int
    seconds: Sequence[float]
    megabytes: Sequence[float]


def write_stack(workdir: Workdir, models: int) -> None:
    """The stack file with that many models, each on one host of one chip, and a spare host."""
    content = yaml.safe_load((ROOT / f"Pulumi.{STACK}.yaml").read_text())
    content["config"]["llmd-gke:pools"] = [
        {"name": "v6e1", "machineType": "ct6e-standard-1t", "topology": "1x1", "maxNodes": models + 1}
    ]
    content["config"]["llmd-gke:models"] = [
        {"name": f"model-{number}", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e1"} for number in range(models)
    ]
    workdir.stack_file(STACK).write_text(yaml.safe_dump(content, sort_keys=False))


def make(workdir: Workdir, command: str) -> tuple[float, float]:
    """Seconds that a target of the Makefile takes, and megabytes of the largest process it starts."""
    environment = {
        **os.environ,
        "LLMD_GKE_HOME": str(workdir.home),
        "LLMD_GKE_ROOT": str(workdir.root),
        "LLMD_GKE_FAULTS": str(workdir.root / "faults.json"),
        "PYTHONPATH": str(ROOT),
    }
    # A process of its own for each command: the kernel counts the largest of all children so far.
    command_line = [sys.executable, "-m", "localcloud", command, "--stack", STACK]
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(command_line, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            output.seek(0)
            sys.exit(f"{command} failed:\n{output.read()}")
    return seconds, usage.ru_maxrss / 1024


def measure(models: int) -> StackCost:
    """Brings a stack of that many models up in the rehearsal, and takes it down."""
    with tempfile.TemporaryDirectory() as folder:
        workdir = Workdir(Path(folder) / "project", Path(folder) / "home")
        workdir.root.mkdir()
        for name in LINKED:
            (workdir.root / name).symlink_to(ROOT / name)
        shutil.copy(ROOT / "Pulumi.yaml", workdir.root)
        (workdir.root / "faults.json").write_text(json.dumps(FAULTS))
        write_stack(workdir, models)
        try:
            taken = [make(workdir, command) for command in ("preview", "up", "up")]
            made = state.read(workdir, STACK)
            resources, objects = len(made.urns) if made else 0, len(cloud_files.objects(workdir))
            write_stack(workdir, models + 1)
            taken.append(make(workdir, "up"))
        finally:
            down = make(workdir, "down")
        taken.append(down)
        seconds, megabytes = zip(*taken, strict=True)
        return StackCost(models, resources, objects, seconds, megabytes)


def tables(measured: Sequence[StackCost]) -> str:
    """Seconds of wall time, and the memory of the largest process."""
    return (
        "Seconds of wall time of whole commands:\n\n"
        + table(
            ("models", "resources", "objects", *STEPS),
            [
                (str(one.models), str(one.resources), str(one.objects), *(f"{taken:.1f}" for taken in one.seconds))
                for one in measured
            ],
        )
        + "\nMegabytes of the largest process, which is the engine where there are many resources:\n\n"
        + table(
            ("models", *STEPS),
            [(str(one.models), *(f"{most:.0f}" for most in one.megabytes)) for one in measured],
        )
    )


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "".join(f"| {' | '.join(row)} |\n" for row in (columns, ["---"] * len(columns), *rows))


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, nargs="+", default=[50])
    options = parser.parse_args()
    if resolve.ready(cache_folder()) is None:
        sys.exit("The engine is not set up. Fix: make up")
    print(f"Measured on {machine()}.\n")
    print(tables([measure(models) for models in (1, *options.models)]))


if __name__ == "__main__":
    main()
