"""What people read when a start fails: what is wrong, and one line with the fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmd_common.problems import Problem
from localcloud.common import cluster_renewal as renew
from localcloud.common import cluster_status as status
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir
from localcloud.pulumi_cli.discover import Engine
from localcloud.workflow.runner import Runner


def fix(problem: Problem) -> str:
    """The fix of a message, which is its last line."""
    before, _, last = str(problem).rpartition("\n")
    assert last.startswith("Fix: ")
    assert "Fix: " not in before
    return last


def test_an_emptied_control_plane_that_fails_says_why(layout: Layout) -> None:
    status.write(layout.status, status.Status("failed", "etcd does not start", []))
    with pytest.raises(Problem, match="does not start: etcd does not start") as failure:
        renew.wait(layout)
    assert "make down CLOUD=laptop" in fix(failure.value)


def test_a_command_of_the_engine_that_fails_is_told_in_its_own_words(tmp_path: Path) -> None:
    engine = tmp_path / "pulumi"
    engine.write_text("#!/bin/sh\necho 'error: no stack of that name' >&2\nexit 255\n")
    engine.chmod(0o755)
    runner = Runner(Workdir(tmp_path, tmp_path / ".rehearsal"), Engine(engine, "3.259.0", "a test"))
    with pytest.raises(Problem, match=r"(?s)^error: no stack of that name.*`pulumi stack ls` failed") as failure:
        runner.ask("stack", "ls")
    assert "run the command again" in fix(failure.value)
