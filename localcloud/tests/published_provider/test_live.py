"""An acceptance run with the real engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from llmd_gke.repository import CLONE


@pytest.mark.slow
def test_a_run_on_the_rehearsal_brings_up_reports_and_leaves_nothing(tmp_path: Path, engine: None) -> None:
    """The real engine on the stand-ins: the orchestration, without anything to ask."""
    environment = os.environ | {"LLMD_GKE_CLOUD": "rehearsal", "LLMD_GKE_HOME": str(tmp_path / "home")}
    call = [sys.executable, "-m", "operations", "live", "--stack", "local", "-o", "json"]
    done = subprocess.run(
        [*call, "--folder", str(tmp_path / "out")],
        cwd=CLONE,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    steps = {step["name"]: step["verdict"] for step in data["steps"]}
    assert (steps["up"], steps["smoke"], steps["destroy"]) == ("passed", "skipped", "passed")
    assert (steps["second up"], data["unchanged"]) == ("passed", True)
    assert (tmp_path / "out" / "report.md").exists()
    assert not list((tmp_path / "home" / "state" / ".pulumi" / "stacks").rglob("local.json"))
