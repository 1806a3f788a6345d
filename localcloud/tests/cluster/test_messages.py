"""What people read when a start fails: what is wrong, and one line with the fix."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from rich.console import Console

from llmd_common.problems import Problem, SetUpFailed
from localcloud.cluster import start
from localcloud.common import cluster_renewal as renew
from localcloud.common import cluster_status as status
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir
from localcloud.gke_gateway.envoy import process
from localcloud.gke_gateway.envoy.files import EnvoyFiles
from localcloud.pulumi_cli.discover import Engine
from localcloud.workflow.runner import Runner


def fix(problem: Problem) -> str:
    """The fix of a message, which is its last line."""
    before, _, last = str(problem).rpartition("\n")
    assert last.startswith("Fix: ")
    assert "Fix: " not in before
    return last


def test_a_supervisor_that_ended_leaves_the_end_of_its_log(layout: Layout) -> None:
    layout.log("supervisor").write_text("bridge: Operation not supported\n")
    with pytest.raises(SetUpFailed, match=r"supervisor exited(.|\n)*Operation not supported") as failure:
        start.wait(layout, None, Console(quiet=True))
    assert "run the command again" in fix(failure.value)


def test_an_emptied_control_plane_that_fails_says_why(layout: Layout) -> None:
    status.write(layout.status, status.Status("failed", "etcd does not start", []))
    with pytest.raises(Problem, match="does not start: etcd does not start") as failure:
        renew.wait(layout)
    assert "make down CLOUD=laptop" in fix(failure.value)


class Silent(process.Envoy):
    """An Envoy that never answers."""

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-c", "import signal; signal.pause()"]


def test_an_envoy_that_never_answers_names_its_log_and_its_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "READY_SECONDS", -1.0)
    files = EnvoyFiles(tmp_path / "envoy")
    with pytest.raises(SetUpFailed, match="Envoy is not ready") as failure:
        asyncio.run(Silent(files, admin_port=1, log_file=tmp_path / "envoy.log").run())
    assert str(tmp_path / "envoy.log") in str(failure.value)
    assert str(files.root) in str(failure.value)
    assert "the log" in fix(failure.value)


def test_a_command_of_the_engine_that_fails_is_told_in_its_own_words(tmp_path: Path) -> None:
    engine = tmp_path / "pulumi"
    engine.write_text("#!/bin/sh\necho 'error: no stack of that name' >&2\nexit 255\n")
    engine.chmod(0o755)
    runner = Runner(Workdir(tmp_path, tmp_path / ".rehearsal"), Engine(engine, "3.259.0", "a test"))
    with pytest.raises(Problem, match=r"(?s)^error: no stack of that name.*`pulumi stack ls` failed") as failure:
        runner.ask("stack", "ls")
    assert "run the command again" in fix(failure.value)
