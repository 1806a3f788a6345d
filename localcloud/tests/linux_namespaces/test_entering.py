"""A command that runs inside: each signal reaches it once, whoever else gets it, and it reaches no other machine."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from llmd_common.problems import Refused
from llmd_gke.repository import CLONE
from localcloud.common.workdir import Workdir
from localcloud.linux_namespaces import inside
from localcloud.pulumi_cli.discover import Engine
from localcloud.workflow.runner import Runner

ENTER = f"""
import sys
sys.path.insert(0, {str(CLONE)!r})
from localcloud.linux_namespaces import enter
enter.join = lambda pid: None  # no namespaces here: signals are the same without
sys.exit(enter.run(0, sys.argv[1:]))
"""

COUNT = """
import os, signal, sys
wanted = {signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
with os.fdopen(int(sys.argv[1]), "w", buffering=1) as told:
    print(os.getpid(), file=told)
    while (came := signal.sigwait(wanted)) != signal.SIGUSR1:
        print(signal.Signals(came).name, file=told)
"""
"""Tells of every signal; SIGUSR1 ends it."""


class Entered:
    """The counting program, inside."""

    def __init__(self) -> None:
        reading, tell = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-c", ENTER, sys.executable, "-c", COUNT, str(tell)],
            stdin=subprocess.DEVNULL,
            pass_fds=[tell],
            start_new_session=True,
        )
        os.close(tell)
        self.reading_end = os.fdopen(reading)
        self.child = psutil.Process(int(self.line()))

    def line(self) -> str:
        return self.reading_end.readline().strip()

    def rest(self) -> list[str]:
        """Ends the program, and says what came until then. Of signals that wait, the lowest number comes first."""
        self.process.send_signal(signal.SIGUSR1)
        assert self.process.wait(60) == 0
        return self.reading_end.read().split()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.child.is_running():
            self.child.kill()
        self.reading_end.close()


Enter = Callable[[], Entered]


@pytest.fixture
def enter() -> Iterator[Enter]:
    started: list[Entered] = []

    def start() -> Entered:
        started.append(Entered())
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.mark.parametrize(
    ("send", "sent"),
    [(os.kill, signal.SIGINT), (os.kill, signal.SIGTERM), (os.killpg, signal.SIGINT), (os.killpg, signal.SIGHUP)],
)
def test_a_signal_to_the_process_or_its_group_reaches_the_command_once(
    enter: Enter, send: Callable[[int, int], None], sent: signal.Signals
) -> None:
    """A second SIGINT makes the engine stop in the middle of a step."""
    entered = enter()
    send(entered.process.pid, sent)
    assert entered.line() == sent.name
    assert entered.rest() == []


def test_what_kills_the_process_group_leaves_no_command_behind(enter: Enter) -> None:
    entered = enter()
    os.killpg(entered.process.pid, signal.SIGKILL)
    assert entered.process.wait(60) == -signal.SIGKILL
    assert select.select([entered.reading_end], [], [], 60)[0], "its end of the pipe closes as it ends"
    assert entered.line() == ""


@pytest.mark.parametrize(("ends", "status"), [("exit 0", 0), ("exit 255", 255), ("kill -KILL $$", -signal.SIGKILL)])
def test_an_engine_that_was_killed_is_told_from_one_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str, status: int
) -> None:
    def entered(_home: Path, arguments: Sequence[str]) -> list[str]:
        return [sys.executable, "-c", ENTER, *arguments]

    monkeypatch.setattr(inside, "command", entered)
    engine = tmp_path / "pulumi"
    engine.write_text(f"#!/bin/sh\n{ends}\n")
    engine.chmod(0o755)
    runner = Runner(Workdir(tmp_path, tmp_path / ".laptop", "laptop"), Engine(engine, "3.259.0", "a test"))
    assert runner.stream("up") == status


def test_nothing_runs_in_a_network_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def entered(_: Path) -> bool:
        return True

    def ways_out(_: int | str) -> list[str]:
        return ["0.0.0.0 via eth0"]

    monkeypatch.setattr(inside.discover, "inside", entered)
    monkeypatch.setattr(inside.routes, "ways_out", ways_out)
    with pytest.raises(Refused, match=r"a route to the outside \(0\.0\.0\.0 via eth0\)\.\nFix: make down CLOUD=laptop"):
        inside.command(tmp_path, ["true"])
