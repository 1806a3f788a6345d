"""The operator's commands on a laptop cloud: called outside, they enter it by themselves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.laptop.harness import Laptop


def called(laptop: Laptop, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`llmd-gke`, as its script in `.venv/bin` runs it: from any folder, knowing where its modules are."""
    environment = {name: value for name, value in laptop.environment.items() if name != "PYTHONPATH"}
    start = (
        f"import sys; sys.path.insert(0, {laptop.environment['PYTHONPATH']!r});"
        "from llmd_gke.operations.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-P", "-c", start, *words, "--stack", "local", "--cloud", "laptop"]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=180
    )


def test_status_reads_the_cluster_with_the_programs_own_sign_in_from_any_folder(laptop: Laptop, tmp_path: Path) -> None:
    done = called(laptop, tmp_path, "status")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert done.stdout.count("Status of stack local") == 1
    assert "3 of 3 nodes ready" in done.stdout
    assert "a token in" in done.stdout


def test_smoke_finds_everything_that_a_client_relies_on(laptop: Laptop, tmp_path: Path) -> None:
    done = called(laptop, tmp_path, "smoke", "--output", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = {check["name"]: check["verdict"] for check in json.loads(done.stdout)["checks"]}
    assert verdicts.pop("longer than 30 s") == "skipped", "the simulator is too quick for it"
    assert len(verdicts) == 9
    assert set(verdicts.values()) == {"passed"}, verdicts


def test_where_no_laptop_cloud_runs_the_command_that_starts_one_is_named(laptop: Laptop, tmp_path: Path) -> None:
    other = Laptop(tmp_path)
    other.environ["LLMD_GKE_ROOT"] = str(laptop.root)
    done = called(other, tmp_path, "status")
    assert done.returncode == 7
    assert f"does not run.{os.linesep}Fix: make up CLOUD=laptop" in done.stderr
