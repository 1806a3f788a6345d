"""`.ci/run` and `.ci/full`: what they run, and that nothing is left out in silence."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.workflows.conftest import ROOT, read

RUN, FULL, COMMON = (ROOT / ".ci" / name for name in ("run", "full", "common"))
LAPTOP_TESTS = {
    file.stem.removeprefix("test_") for file in (ROOT / "localcloud" / "tests" / "real_kubernetes").glob("test_*.py")
}


def bash(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Runs a script that has sourced what both files share, in an empty folder."""
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f". {shlex.quote(str(COMMON))}\n{script}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_part_for_which_no_time_is_left_is_a_failure(tmp_path: Path) -> None:
    done = bash(tmp_path, "LIMIT=30\npart 'the tests' touch ran")
    assert done.returncode == 1
    assert "NOT RUN: the tests" in done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("12 passed", 0),
        ("SKIPPED [1] tests/workflows/test_posting.py:56: Node is not installed: it runs the script", 0),
        ("SKIPPED [1] tests/operations/bench/test_load.py:15: the benchmark's environment is not set up", 1),
    ],
)
def test_a_skipped_test_is_a_failure(tmp_path: Path, output: str, status: int) -> None:
    done = bash(tmp_path, f'LIMIT=1000\npart "tests" echo "{output}"\nskipped_nothing')
    assert done.returncode == status


def test_every_make_command_of_the_readmes_first_chapter_is_run() -> None:
    chapter = (ROOT / "README.md").read_text().partition("## Try it")[2].partition("\n## ")[0]
    wanted = set(re.findall(r"^(make [a-z]+(?: CLOUD=laptop)?)", chapter, re.MULTILINE))
    assert {"make up", "make test", "make up CLOUD=laptop", "make down CLOUD=laptop"} <= wanted
    run = set(re.findall(r"readme (make [a-z]+(?: CLOUD=laptop)?)", RUN.read_text()))
    assert wanted <= run


def test_every_test_of_the_laptop_cloud_is_in_exactly_one_long_suite() -> None:
    matches = re.findall(r'^  \[\w+\]="([\w ]+)"$', FULL.read_text(), re.MULTILINE)
    names = [name for files in matches for name in files.split()]
    assert sorted(names) == sorted(LAPTOP_TESTS)


def test_the_workflow_runs_every_long_suite() -> None:
    suites = re.findall(r"^SUITES=\((.*)\)$", FULL.read_text(), re.MULTILINE)[0].split()
    jobs = read("full.yaml").jobs
    assert ["programs", *jobs["suite"]["strategy"]["matrix"]["suite"]] == suites
