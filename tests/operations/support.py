"""Running the commands as a user does."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest

from operations import cli

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str, root: Path = ROOT, environment: dict[str, str] | None = None) -> Done:
    """``llmd-gke`` in this process, without what the caller's environment says about stacks and clouds."""
    aside = {"STACK", "CLOUD", "COLUMNS", "LLMD_GKE_HOME", "LLMD_GKE_CLOUD"}
    kept = {name: value for name, value in os.environ.items() if name not in aside}
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.dict(os.environ, {**kept, "LLMD_GKE_ROOT": str(root), **(environment or {})}, clear=True),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        status = cli.main(arguments)
    return Done(status, out.getvalue(), err.getvalue())


def program(file: Path, text: str, path: pytest.MonkeyPatch) -> Path:
    """A program on PATH, before all others."""
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)
    path.setenv("PATH", str(file.parent), prepend=os.pathsep)
    return file
