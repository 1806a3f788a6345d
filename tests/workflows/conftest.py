"""The workflows, read once, and actionlint, built from its published module."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.y*ml"))
WRAPPER = Path(__file__).with_name("actionlint")


@dataclass(frozen=True)
class Workflow:
    """One file: its text, and what it says. ``on`` is what YAML 1.1 reads as true."""

    name: str
    text: str
    content: Mapping[Any, Any]

    @property
    def on(self) -> Mapping[str, Any]:
        return self.content[True]

    @property
    def jobs(self) -> Mapping[str, Any]:
        return self.content["jobs"]

    @property
    def steps(self) -> list[tuple[str, dict[str, Any]]]:
        return [(job, step) for job, one in self.jobs.items() for step in one["steps"]]


def read(name: str) -> Workflow:
    text = (FOLDER / name).read_text()
    return Workflow(name, text, yaml.safe_load(text))


@pytest.fixture(params=[file.name for file in FILES])
def workflow(request: pytest.FixtureRequest) -> Workflow:
    return read(request.param)


@pytest.fixture(scope="session")
def actionlint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real program, built by the Go on PATH."""
    if shutil.which("go") is None:
        pytest.skip("Go is not installed: it builds actionlint")
    program = tmp_path_factory.mktemp("actionlint") / "actionlint"
    built = subprocess.run(
        ["go", "build", "-o", str(program), "."],
        cwd=WRAPPER,
        env={**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return program
