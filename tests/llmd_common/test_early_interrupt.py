"""Ctrl-C while a command is being imported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SLOW = """\
import signal
print("importing", flush=True)
signal.pause()
"""


@pytest.mark.parametrize("package", ["localcloud", "operations"])
def test_ctrl_c_during_the_imports_ends_the_command_without_a_traceback(tmp_path: Path, package: str) -> None:
    (tmp_path / "typer.py").write_text(SLOW)
    with subprocess.Popen(
        [sys.executable, "-m", package, "preview"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (-signal.SIGINT, "")
