"""A stack's name is text: no shell and no make runs what is in it, and the pipeline passes names of stacks only."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.workflows.conftest import ROOT, read

HOSTILE = [
    'local"; touch mark; "',
    "local'; touch mark; '",
    "$(shell touch mark)",
    "$$(touch mark)",
    "$(touch mark)",
    "`touch mark`",
    "local\ntouch mark",
    "local; touch mark",
    "../local",
    "--cwd=/",
]
TARGETS = ["up", "preview", "down", "shell", "status", "doctor", "cost", "smoke", "bench", "live"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The Makefile in a folder of its own; Python is a program that writes down its arguments.

    The one that would run the empty script of the set-up does nothing: starting it takes longer than all the rest.
    """
    shutil.copy(ROOT / "Makefile", tmp_path)
    makefile = (ROOT / "Makefile").read_text()
    match = re.search(r"^SET_UP\s*= python3 (\S+)$", makefile, re.M)
    assert match, "the Makefile sets up what is missing by a script"
    (tmp_path / match[1]).parent.mkdir(parents=True)
    (tmp_path / match[1]).write_text("")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for name in ("python", "llmd-gke"):
        program = tmp_path / ".venv" / "bin" / name
        program.write_text('#!/bin/sh\nfor word in "$@"; do printf "%s\\0" "$word" >> arguments; done\n')
        program.chmod(0o755)
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    return tmp_path


def make(clone: Path, target: str, *arguments: str, **variables: str) -> list[str]:
    """The words that the programs behind a target get."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("LLMD_GKE_", "MAKE"))}
    environment = {key: value for key, value in environment.items() if key not in ("STACK", "CLOUD")} | variables
    environment["PATH"] = f"{clone / 'bin'}{os.pathsep}{environment['PATH']}"
    subprocess.run(["make", target, *arguments], cwd=clone, env=environment, capture_output=True, timeout=60)
    file = clone / "arguments"
    return file.read_text().split("\0") if file.exists() else []


@pytest.mark.parametrize("target", TARGETS)
def test_a_name_reaches_the_command_as_one_word(clone: Path, target: str) -> None:
    for hostile in HOSTILE:
        (clone / "arguments").unlink(missing_ok=True)
        command = make(clone, target, STACK=hostile)
        assert not (clone / "mark").exists(), hostile
        if target != "shell":
            assert command[command.index("--stack") + 1] == hostile


@pytest.mark.parametrize("variable", ["STACK", "CLOUD"])
@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_in_a_variable_is_run_however_it_is_given(clone: Path, variable: str, hostile: str) -> None:
    for target in ("help", "preview", "status"):
        make(clone, target, f"{variable}={hostile}")
        make(clone, target, **{variable: hostile})
        assert not (clone / "mark").exists()
    command = make(clone, "cost")
    assert command[-5:-1] == ["--stack", "local", "--cloud", "rehearsal"], "the Makefile still works here"


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["preview", "eu4a"], "make preview STACK=eu4a"),
        (["eu4a", "preview"], "make preview STACK=eu4a"),
        (["preview", "stack=eu4a"], "make preview STACK=eu4a"),
        (["up", "stack=a b", "cloud=laptop"], "make up STACK=a b CLOUD=laptop"),
        (["cost", "STACK=eu4a", "--output", "json"], "options of a command go into ARGS"),
        (["preview", "$(shell touch mark)"], "`make help-all` lists the targets"),
        (["preview", "stack=$(shell touch mark)"], "Variables are in upper case"),
    ],
)
def test_what_looks_like_an_argument_is_not_passed_over(clone: Path, words: list[str], fix: str) -> None:
    (clone / "Pulumi.eu4a.yaml").touch()
    done = subprocess.run(["make", *words], cwd=clone, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert fix in done.stderr
    assert not (clone / "arguments").exists()
    assert not (clone / "mark").exists()


def test_down_names_a_stack_only_where_one_is_given(clone: Path) -> None:
    assert "--stack" not in make(clone, "down")
    assert make(clone, "down", "STACK=eu4a")[-3:-1] == ["--stack", "eu4a"]
    assert make(clone, "down", STACK="dev")[-3:-1] == ["--stack", "dev"]


def test_inside_a_shell_of_a_cloud_it_stays_that_cloud(clone: Path) -> None:
    assert make(clone, "cost", LLMD_GKE_CLOUD="laptop")[-3:-1] == ["--cloud", "laptop"]
    assert make(clone, "cost", "CLOUD=google", LLMD_GKE_CLOUD="laptop")[-3:-1] == ["--cloud", "google"]


def names(folder: Path) -> subprocess.CompletedProcess[str]:
    """What the job `stacks` of the checks does in a folder."""
    [step] = [step for _, step in read("checks.yaml").steps if step.get("id") == "list"]
    output = folder / "github-output"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "GITHUB_OUTPUT": str(output)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_pipeline_lists_every_stack(tmp_path: Path) -> None:
    for name in ("dev", "prod-eu", "eu4a", "a_1"):
        (tmp_path / f"Pulumi.{name}.yaml").touch()
    assert names(tmp_path).returncode == 0
    key, _, value = (tmp_path / "github-output").read_text().partition("=")
    assert key == "names"
    assert json.loads(value) == ["a_1", "dev", "eu4a", "prod-eu"]


@pytest.mark.parametrize("name", ['a"b', "a b", "a$(touch mark)", "a`b`", "a\nb", "a;b", "-a", "a'b", "ä", "$STACK"])
def test_the_pipeline_refuses_a_file_whose_name_is_no_stacks(tmp_path: Path, name: str) -> None:
    (tmp_path / "Pulumi.dev.yaml").touch()
    (tmp_path / f"Pulumi.{name}.yaml").touch()
    done = names(tmp_path)
    assert done.returncode == 1
    assert "not the file of a stack" in done.stderr
    assert not (tmp_path / "github-output").exists()
    assert not (tmp_path / "mark").exists()
