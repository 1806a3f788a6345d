"""Running the commands as a user does, and comparing what they print with committed files."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from operations import cli
from tests import golden

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).with_name("golden")


@dataclass(frozen=True)
class Done:
    """What a command left."""

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


def same_as_golden(name: str, text: str) -> None:
    """Fails where ``text`` differs from the committed file."""
    file = GOLDEN / name
    text = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    assert text == golden.remembered(file, text), f"not as in {file.name}; if that is meant: pytest --rewrite"
