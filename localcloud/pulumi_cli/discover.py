"""Looks for a suitable `pulumi` that is already installed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from llmd_common import child_process
from localcloud.binaries.official import ANSWER_SECONDS, candidates, numbers
from localcloud.product import engine_floor

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


def ask_version(pulumi: Path) -> str:
    """The output of `pulumi version`; empty if it cannot be run."""
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": os.environ.get("HOME", "/"),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    return child_process.output_of([pulumi, "version"], seconds=ANSWER_SECONDS, environment=environment) or ""


def check_engine(pulumi: Path) -> Engine | Unsuitable:
    """Whether that `pulumi` can run the program.

    It must be at least ``engine_floor()`` (older ones hang on components that depend on their own parent,
    https://github.com/pulumi/pulumi/issues/24230) and bring the language host next to itself: plugins found elsewhere
    on PATH are ignored in the rehearsal, so that no real provider can slip in.
    """
    real = pulumi.resolve()
    answer = ask_version(real)
    version = numbers(answer)
    if not version:
        return Unsuitable(pulumi, "`pulumi version` printed no version")
    if version < numbers(engine_floor()):
        return Unsuitable(pulumi, f"version {answer} is older than {engine_floor()}")
    if not os.access(real.with_name(HOST), os.X_OK):
        return Unsuitable(pulumi, f"{HOST} is not next to it ({real.parent})")
    return Engine(real, answer, "found on PATH")


def on_path(path: str) -> tuple[Engine | None, list[Unsuitable]]:
    """The first suitable `pulumi` of a PATH, and the unsuitable ones before it."""
    left_aside: list[Unsuitable] = []
    for candidate in candidates("pulumi", path):
        checked = check_engine(candidate)
        if isinstance(checked, Engine):
            return checked, left_aside
        left_aside.append(checked)
    return None, left_aside
