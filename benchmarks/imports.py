"""What the program's imports cost: ``python benchmarks/imports.py [--runs 7]``.

Each step imports what the step before it does, and one thing more, in an interpreter of its own. Prints the processor
time that the one thing more takes (the smallest of the runs: other work on the machine only adds), and as a part of
``import pulumi``, which every Pulumi program pays and no one can change. Below it, what the SDKs would cost as usual.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from rich.console import Console  # noqa: E402
from rich.progress import track  # noqa: E402
from rich.table import Table  # noqa: E402

PYDANTIC = """
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError
from pydantic.alias_generators import to_camel
class One(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, alias_generator=to_camel)
    field: int = Field(default=1, ge=1)
"""
"""Pydantic and one model: without a model it has hardly begun to import itself."""

PARSE = """
from llmd_gke.settings.load import read_config
raw = read_config(ROOT, "eu4a")
"""
CHECK = """
from llmd_gke.settings import parse
parse(raw, "eu4a")
"""


@dataclass(frozen=True)
class ImportStep:
    """``code`` on top of the code of the step called ``after``."""

    name: str
    code: str
    after: str = ""


STEPS = (
    ImportStep("an empty interpreter", ""),
    ImportStep("pulumi", "import pulumi", "an empty interpreter"),
    ImportStep("pydantic, with one model", PYDANTIC, "pulumi"),
    ImportStep("llmd_gke.settings", "import llmd_gke.settings", "pydantic, with one model"),
    ImportStep("reading a stack file (tools only)", PARSE, "llmd_gke.settings"),
    ImportStep("checking the settings of eu4a", CHECK, "reading a stack file (tools only)"),
    ImportStep(
        "components, with the classes they use", "import components.model, components.cluster", "llmd_gke.settings"
    ),
    ImportStep("pulumi_gcp.container as usual", "import pulumi_gcp.container as c; c.Cluster", "pulumi"),
    ImportStep("pulumi_gcp.compute as usual", "import pulumi_gcp.compute as c; c.Network", "pulumi"),
    ImportStep("pulumi_kubernetes.core.v1 as usual", "import pulumi_kubernetes.core.v1 as c; c.Secret", "pulumi"),
)


def code_of(step: ImportStep) -> str:
    """The whole program of a step."""
    before = next((one for one in STEPS if one.name == step.after), None)
    return f"{code_of(before) if before else ''}{step.code}\n"


def seconds(step: ImportStep) -> float:
    """User and system time of an interpreter that runs a step's code. Raises ``RuntimeError`` where that fails."""
    head = f"import pathlib, sys; ROOT = pathlib.Path({str(ROOT)!r}); sys.path.insert(0, str(ROOT))\n"
    # os._exit: taking hundreds of modules down again is no part of an import.
    code = f"{head}{code_of(step)}import os; os._exit(0)"
    child = os.posix_spawn(sys.executable, [sys.executable, "-W", "ignore", "-c", code], os.environ)
    _, status, used = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"{step.name}: exit status {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    runs: int = parser.parse_args().runs
    best = {step.name: seconds(step) for step in STEPS}  # also writes what bytecode is missing
    for _ in track(range(runs), description="runs", transient=True):
        for step in STEPS:
            best[step.name] = min(best[step.name], seconds(step))
    own = {step.name: best[step.name] - best.get(step.after, 0.0) for step in STEPS}
    table = Table(title=f"Imports, smallest of {runs + 1} runs, {os.cpu_count()} cores", title_justify="left")
    table.add_column("one thing more")
    table.add_column("after")
    table.add_column("CPU", justify="right")
    table.add_column("of import pulumi", justify="right")
    for step in STEPS:
        ratio = own[step.name] / own["pulumi"]
        table.add_row(step.name, step.after, f"{own[step.name] * 1000:.0f} ms", f"{ratio:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
