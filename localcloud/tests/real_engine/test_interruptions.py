"""What interrupts `make up` and `make down`, at several moments: the same command again ends the work."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from localcloud.tests.real_engine.test_stopped_destroy import CHAIN
from localcloud.workflow import processes, state
from tests.real_engine.harness import Rehearsal, until

MOMENTS = [int(one) for one in os.environ.get("MOMENTS", "1 20").split()]


def interrupt(how: str, rehearsal: Rehearsal, command: subprocess.Popen[str]) -> str:
    """Interrupts the command, and returns what it printed until its end."""
    if how == "closed pipe":
        assert command.stdout is not None
        command.stdout.close()
        command.wait(500)
        return ""
    if how == "killed engine":
        until(lambda: processes.engines(rehearsal.workdir), "the engine runs")[0].kill()
    else:
        command.send_signal(how)
    return command.communicate(timeout=500)[0]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGHUP, "closed pipe", "killed engine"])
@pytest.mark.parametrize(("verb", "method"), [("up", "compute.addresses.insert"), ("down", "compute.addresses.delete")])
def test_the_same_command_again_ends_what_was_interrupted(
    rehearsal: Rehearsal, verb: str, method: str, how: str, moment: int
) -> None:
    rehearsal.program(CHAIN)
    if verb == "down":
        rehearsal.up()
    with rehearsal.started(verb) as command:
        until(lambda: len(rehearsal.requests(method)) >= moment, f"request {moment}", wait_seconds=500)
        output = interrupt(how, rehearsal, command)
    print(verb, how, moment, command.returncode, output[-700:])
    assert command.returncode
    assert "bug" not in output
    assert "Traceback" not in output
    if output:
        assert "continues" in output
    until(lambda: not processes.left_over(rehearsal.workdir), "the stand-ins have ended with their engine")
    again = rehearsal.up() if verb == "up" else rehearsal.down()
    print(again.stdout[-600:])
    assert "alreadyExists" not in again.stdout
    assert "bug" not in again.stdout
    assert len(rehearsal.cloud()) == (41 if verb == "up" else 0)
    assert state.locks(rehearsal.workdir, "local") == []
