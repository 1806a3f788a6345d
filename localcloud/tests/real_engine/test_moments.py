"""Every command that changes a cloud, ended in four ways at ten moments: what it says then works, and nothing is lost.

``LLMD_GKE_ALL_MOMENTS=1`` plays all of them (``.ci/full moments``).
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest

from llmd_gke.wording import counted
from localcloud.workflow import event_log, failures, processes, state
from tests.real_engine.conftest import brought_up_once
from tests.real_engine.harness import GOOGLE, Rehearsal, until

LENGTH = 10
PROGRAM = f"""{GOOGLE}
stopped = pulumi.Config().require_object("models")[0].get("stopped", False)
above = Google("network:Network", "net", autoCreateSubnetworks=False)
for number in range(0 if stopped else {LENGTH}):
    above = Google("address:Address", f"ip{{number}}", (above,), region="europe-west4")
pulumi.export("gatewayIp", "10.0.0.1")
pulumi.export("models", {{"qwen": {{"url": "http://10.0.0.1/", "servedModelName": "qwen", "stopped": stopped}}}})
pulumi.export("cluster", {{"name": "none"}})
"""
"""One resource after the other, so that something is left to do at each moment."""

MAKEFILE = f"""\
up down:
\t@"{sys.executable}" -m localcloud $@ $(if $(STACK),--stack $(STACK))
"""


class Command(NamedTuple):
    """What is typed, what was brought up before, and the number of objects after it."""

    line: str
    before: str
    after: int


COMMANDS = {
    "up": Command("make up", "nothing", LENGTH + 1),
    "down": Command("make down", "up", 0),
    "stop": Command("llmd-gke stop --model qwen --stack local", "up", 1),
    "start": Command("llmd-gke start --model qwen --stack local", "stopped", LENGTH + 1),
    "destroy": Command("llmd-gke destroy --stack local --cloud rehearsal", "up", 0),
    "live": Command("llmd-gke live --stack local --cloud rehearsal --bench-seconds 0 --folder report", "nothing", 0),
}
WAYS = ("ctrl-c", "closed-terminal", "unread", "killed-engine")
MOMENTS = (
    ("lock", 1),
    ("preludeEvent", 1),
    ("resourcePreEvent", 1),
    *(("resOutputsEvent", number) for number in (1, 2, 4, 6, 8, 10)),
    ("summaryEvent", 1),
)
"""Numbers of events in the engine's log; the lock is what a command takes before it starts an engine."""

EVERY_DAY = [
    ("up", "ctrl-c", 4),
    ("up", "killed-engine", 5),
    ("up", "unread", 3),
    ("down", "closed-terminal", 5),
    ("destroy", "ctrl-c", 4),
    ("stop", "ctrl-c", 6),
    ("start", "killed-engine", 5),
    ("live", "closed-terminal", 4),
]
PLAYED = list(product(COMMANDS, WAYS, range(len(MOMENTS)))) if os.environ.get("LLMD_GKE_ALL_MOMENTS") else EVERY_DAY
SAYS_HOW = r"`((?:make|llmd-gke) [^`]+)` (?:continues|completes it|repairs)|(?:next run|again; it) continues"
"""How a message says what to do next: another command, or the same."""


@pytest.fixture
def chain(tmp_path: Path, engine: None) -> Iterator[Rehearsal]:
    made = Rehearsal(tmp_path)
    made.environ = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "TERM": "xterm"}
    made.environ |= {"MAKELEVEL": "0", "MAKEFLAGS": ""}  # below another make, it would write to the closed pipe itself
    yield made
    made.stop_everything()


def begin(chain: Rehearsal, before: str, factory: pytest.TempPathFactory) -> None:
    """Brings about what is up before a command."""

    def prepare(made: Rehearsal) -> None:
        made.edit("local", lambda config: config["llmd-gke:models"][0].update(stopped=before == "stopped"))
        (made.root / "Makefile").write_text(MAKEFILE)
        made.program(PROGRAM)

    if before == "nothing":
        chain.copy_project()
        prepare(chain)
    else:
        chain.continue_from(brought_up_once(factory, f"chain-is-{before}", prepare))
    failures.log(chain.workdir).unlink(missing_ok=True)


class Typed:
    """A command on a terminal of its own, or, to end it ``unread``, with its output in a pipe."""

    def __init__(self, chain: Rehearsal, line: str, way: str) -> None:
        piped = way == "unread"
        self.way, self.chain, self.text, self.closed = way, chain, bytearray(), False
        self.ours, theirs = os.pipe() if piped else pty.openpty()
        self.errors = (chain.folder / "errors").open("w+b")
        self.process = subprocess.Popen(
            ["sh", "-c", f"exec {line}"],
            cwd=chain.root,
            env=chain.environment,
            stdin=subprocess.DEVNULL if piped else theirs,
            stdout=theirs,
            stderr=self.errors if piped else theirs,
            start_new_session=True,
            preexec_fn=None if piped else lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),
        )
        chain.running.append(self.process)  # type: ignore[arg-type]
        os.close(theirs)

    def reached(self, kind: str, number: int) -> bool:
        """Whether that event has come; reads what is shown, so that the command never waits for us."""
        self.ended()
        if kind == "lock":
            return self.chain.workdir.run_lock.exists() and bool(self.chain.workdir.run_lock.read_text())
        events = event_log.read(failures.log(self.chain.workdir))
        return sum(kind in event for event in events) >= number or self.process.poll() is not None

    def end(self) -> None:
        """Ends the command, or its engine, in its way."""
        match self.way:
            case "ctrl-c":
                os.write(self.ours, b"\x03")
            case "killed-engine":
                until(lambda: processes.engines(self.chain.workdir) or self.ended(), "an engine runs")
                for engine in processes.engines(self.chain.workdir):
                    engine.kill()
            case _:
                os.close(self.ours)
                self.closed = True

    def ended(self) -> bool:
        """Whether the command has ended. Reads what is there."""
        over = self.process.poll() is not None
        while not self.closed and select.select([self.ours], [], [], 0)[0]:
            try:
                piece = os.read(self.ours, 65536)
            except OSError:  # the other side of a terminal is closed
                break
            if not piece:
                break
            self.text += piece
        return over

    def said(self) -> str:
        """All that the user could see."""
        self.errors.seek(0)
        return (self.text + self.errors.read()).decode(errors="replace").replace("\r", "")


@pytest.mark.parametrize(("name", "way", "moment"), PLAYED)
def test_a_command_that_was_ended_says_what_then_works_and_leaves_nothing_unnamed(
    chain: Rehearsal, tmp_path_factory: pytest.TempPathFactory, name: str, way: str, moment: int
) -> None:
    command = COMMANDS[name]
    begin(chain, command.before, tmp_path_factory)
    typed = Typed(chain, command.line, way)
    until(lambda: typed.reached(*MOMENTS[moment]), f"{MOMENTS[moment]} of {command.line}")
    typed.end()
    until(typed.ended, f"{command.line} ends")
    said, status = typed.said(), typed.process.returncode
    assert not re.search(r"Traceback|report this bug", said), said
    assert name != "up" or said.count("^C received") <= 1
    until(lambda: not chain.processes(), f"nothing goes on after:\n{said}")
    left, there = chain.state(), set(chain.cloud())
    if way != "killed-engine":
        # An engine that is ended after its last event leaves its lock, which the next run clears.
        assert status or state.locks(chain.workdir, "local") == [], said
        assert there <= set(left.ids if left else ()), said
    if way == "unread":  # as if it were read
        assert status == 0, said
    elif name != "live" and status and (len(there) != command.after or state.locks(chain.workdir, "local")):
        again = command.line  # a closed terminal shows nothing
        if way != "closed-terminal":
            offered = re.search(SAYS_HOW, said)
            assert offered, said
            again = offered[1] or again
        if (name, way) == ("destroy", "ctrl-c") and left:
            assert (
                f"{counted(len(left.urns), 'resource')} left in the state: {left.urns[-1].rpartition('::')[2]}" in said
            )
        done = subprocess.run(
            again, cwd=chain.root, env=chain.environment, capture_output=True, text=True, check=False, shell=True
        )
        assert done.returncode == 0, f"{said}\n{again}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr
    assert len(chain.cloud()) == command.after, said
    assert state.locks(chain.workdir, "local") == []
    made = [one["body"]["name"] for one in chain.requests("compute.*.insert")]
    assert len(made) == len(set(made))
