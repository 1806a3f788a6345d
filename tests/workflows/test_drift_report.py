"""The step of `drift` that reports to Cloud Monitoring, run by bash."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

WORKFLOW = Path(__file__).resolve().parents[2] / ".github" / "workflows" / "drift.yaml"
PROPOSED = "error: no changes were expected but changes were proposed\n"


@pytest.mark.parametrize(
    ("outcome", "text", "reported"),
    [
        ("success", "Resources:\n    75 unchanged\n", "report-drift --stack prod --same\n"),
        ("failure", PROPOSED, "report-drift --stack prod --differs\n"),
        ("failure", PROPOSED.replace("expected", "expected for preview"), "report-drift --stack prod --differs\n"),
        ("failure", "error: could not reach the state\n", "no comparison\n"),
        ("failure", None, "no comparison\n"),
    ],
)
def test_only_a_comparison_that_ended_is_reported(
    tmp_path: Path, outcome: str, text: str | None, reported: str
) -> None:
    steps = yaml.safe_load(WORKFLOW.read_text())["jobs"]["drift"]["steps"]
    (step,) = [one for one in steps if "report-drift" in one.get("run", "")]
    assert "DRIFT_SERVICE_ACCOUNT" in step["if"]
    program = tmp_path / ".venv" / "bin" / "llmd-gke"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    if text is not None:
        (tmp_path / "drift.txt").write_text(text)
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "STACK": "prod", "OUTCOME": outcome},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, reported)
