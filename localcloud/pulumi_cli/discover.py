"""Looks for a suitable `pulumi` that is already installed."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from llmd_common import child_process
from localcloud.product import engine_floor

WRAPPER_MARK = "localcloud.workflow.wrapper"
"""The `pulumi` that the rehearsal puts on a shell's PATH contains this text: it is not an engine."""

HOST = "pulumi-language-python"


@dataclass(frozen=True)
class Engine:
    """A usable engine: the real path of its `pulumi`, its version, and a description of its origin."""

    pulumi: Path
    version: str
    origin: str


@dataclass(frozen=True)
class Unsuitable:
    """A `pulumi` that was found but cannot be used, and why."""

    pulumi: Path
    reason: str


def parse_version(text: str) -> tuple[int, int, int] | None:
    """``v3.259.0`` (also with a suffix such as ``-dev``) as numbers; ``None`` if it is not a version."""
    match = re.search(r"\bv?(\d+)\.(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def ask_version(pulumi: Path) -> str:
    """The output of `pulumi version`; empty if it cannot be run."""
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": os.environ.get("HOME", "/"),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    return child_process.output_of([pulumi, "version"], seconds=20, environment=environment) or ""


def check_engine(pulumi: Path) -> Engine | Unsuitable:
    """Whether that `pulumi` can run the program.

    It must be at least ``engine_floor()`` (older ones hang on components that depend on their own parent,
    https://github.com/pulumi/pulumi/issues/24230) and bring the language host next to itself: plugins found elsewhere
    on PATH are ignored in the rehearsal, so that no real provider can slip in.
    """
    real = pulumi.resolve()
    answer = ask_version(real)
    version = parse_version(answer)
    floor = parse_version(engine_floor())
    if version is None or floor is None:
        return Unsuitable(pulumi, "`pulumi version` printed no version")
    if version < floor:
        return Unsuitable(pulumi, f"version {answer} is older than {engine_floor()}")
    if not os.access(real.with_name(HOST), os.X_OK):
        return Unsuitable(pulumi, f"{HOST} is not next to it ({real.parent})")
    return Engine(real, answer, "found on PATH")


def on_path(path: str) -> tuple[Engine | None, list[Unsuitable]]:
    """The first suitable `pulumi` of a PATH, and the unsuitable ones before it."""
    left_aside: list[Unsuitable] = []
    for folder in path.split(os.pathsep):
        candidate = Path(folder or ".") / "pulumi"
        if not os.access(candidate, os.X_OK) or not candidate.is_file() or _is_wrapper(candidate):
            continue
        checked = check_engine(candidate)
        if isinstance(checked, Engine):
            return checked, left_aside
        left_aside.append(checked)
    return None, left_aside


def _is_wrapper(candidate: Path) -> bool:
    try:
        with candidate.open("rb") as file:
            return WRAPPER_MARK.encode() in file.read(1024)
    except OSError:
        return False
