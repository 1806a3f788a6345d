"""What `make up` does after an engine was killed, beside another run, and when something was removed by hand."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess

import psutil
import pytest

from localcloud.workflow import processes, state
from tests.real_engine.harness import Rehearsal, until

NETWORK = "gcp:compute/network:Network"
MAKES_NETWORK, MAKES_ADDRESS = "compute.networks.insert", "compute.addresses.insert"


def wait_for_object(rehearsal: Rehearsal, name: str) -> None:
    """Until the emulator has made the object, while the engine still waits for the answer."""
    until(lambda: any(ident.endswith(f"/{name}") for ident in rehearsal.cloud()), f"{name} is in the cloud")


def slow(rehearsal: Rehearsal, method: str) -> None:
    rehearsal.google_faults({"fault": "slow", "method": method, "seconds": 20})


def fast(rehearsal: Rehearsal) -> None:
    rehearsal.google_faults()


def only_engine(rehearsal: Rehearsal) -> psutil.Process:
    return until(lambda: processes.engines(rehearsal.workdir), "the engine runs")[0]


def kill_engine_while_it_makes(rehearsal: Rehearsal, method: str, name: str) -> psutil.Process:
    """Starts `up` and kills its engine once the object is in the cloud, before the engine knows. The dead engine."""
    slow(rehearsal, method)
    with rehearsal.started("up") as first:
        wait_for_object(rehearsal, name)
        engine = only_engine(rehearsal)
        engine.kill()
        assert first.wait(60) == 1
    return engine


def test_after_a_killed_engine_up_says_what_it_found_and_makes_nothing_twice(small: Rehearsal) -> None:
    engine = kill_engine_while_it_makes(small, MAKES_NETWORK, "net")
    assert state.locks(small.workdir, "local"), "the killed engine left its lock"
    present = small.state()
    assert present is not None
    assert [one.kind for one in present.pending] == ["creating"]
    fast(small)
    again = small.up()
    assert f"removed the lock of an engine that is no longer running (process {engine.pid})" in again.stdout
    assert "net: was created, but the state lacked it; imported with ID projects/" in again.stdout
    assert "alreadyExists" not in again.stdout
    after = small.state()
    assert after is not None
    assert after.pending == ()
    assert len(after.ids) == 3
    assert len(small.cloud()) == 3
    assert "4 unchanged" in small.pulumi("refresh", "--yes", "--skip-preview").stdout
    small.down()
    assert small.cloud() == {}


def test_a_create_that_had_not_happened_yet_is_done_after_a_killed_engine(small: Rehearsal) -> None:
    kill_engine_while_it_makes(small, MAKES_NETWORK, "net")
    until(lambda: not processes.left_over(small.workdir), "the stand-ins have ended with their engine")
    shutil.rmtree(small.workdir.cloud)  # as if the create had never reached the cloud
    fast(small)
    again = small.up()
    assert "net: was not created; this run creates it" in again.stdout
    assert len(small.cloud()) == 3


def test_the_second_of_two_runs_is_refused_and_names_the_first(small: Rehearsal) -> None:
    slow(small, MAKES_NETWORK)
    with small.started("up") as first:
        wait_for_object(small, "net")
        second = small.up(check=False)
        assert second.returncode == 5
        assert str(first.pid) in second.stdout
        assert small.down(check=False).returncode == 5
        fast(small)
        os.killpg(first.pid, signal.SIGTERM)
        first.wait(90)


def test_a_plain_command_that_runs_is_named_too(small_running: Rehearsal) -> None:
    small = small_running
    slow(small, MAKES_ADDRESS)
    small.program((small.root / "__main__.py").read_text().replace('"net"', '"other"'))
    script = f'. "{small.workdir.env_script}" && exec pulumi up --yes --skip-preview --stack local'
    with subprocess.Popen(
        ["sh", "-c", script], cwd=small.root, env=small.environment, stdout=subprocess.DEVNULL
    ) as plain:
        small.running.append(plain)  # type: ignore[arg-type]
        until(lambda: state.locks(small.workdir, "local"), "the plain command holds the engine's lock")
        done = small.up(check=False)
        assert done.returncode == 5
        assert f"Process {only_engine(small).pid} has been working on stack local" in done.stdout
        plain.send_signal(signal.SIGINT)
        plain.send_signal(signal.SIGINT)
        plain.wait(60)


@pytest.mark.parametrize(("gone", "message"), [("cloud", "Nothing is left"), ("state", "Removed 3 objects")])
def test_what_was_removed_by_hand_is_named_and_down_helps(small_running: Rehearsal, gone: str, message: str) -> None:
    small = small_running
    shutil.rmtree({"cloud": small.workdir.cloud, "state": small.workdir.state}[gone])
    done = small.up(check=False)
    assert done.returncode == 6
    assert "make down" in done.stdout
    assert message in small.down().stdout
    assert "+ 4 created" in small.up().stdout


def test_a_damaged_state_is_named(small_running: Rehearsal) -> None:
    small = small_running
    file = state.folder(small.workdir) / "local.json"
    file.write_text(file.read_text()[:100])
    done = small.up(check=False)
    assert done.returncode == 6
    assert str(file) in done.stdout
    assert "Traceback" not in done.stdout


def test_the_documented_commands_recover_a_stack_without_make(small: Rehearsal) -> None:
    """The steps of docs/runbook.md, "When an update was interrupted", in their order."""
    kill_engine_while_it_makes(small, MAKES_NETWORK, "net")
    until(lambda: not processes.left_over(small.workdir), "the stand-ins have ended with their engine")
    fast(small)
    locked = small.pulumi("up", "--yes", "--skip-preview", "--stack", "local", check=False)
    assert "the stack is currently locked" in locked.stdout
    small.pulumi("cancel", "--yes", "local")
    exported = small.pulumi("stack", "export", "--stack", "local").stdout
    assert "pending_operations" in exported
    ident = next(ident for ident in small.cloud() if ident.endswith("/net"))
    taken = ["import", NETWORK, "net", ident, "--yes", "--protect=false", "--generate-code=false"]
    small.pulumi(*taken, "--stack", "local")
    small.pulumi("refresh", "--clear-pending-creates", "--yes", "--skip-preview", "--stack", "local")
    small.pulumi("up", "--yes", "--skip-preview", "--stack", "local")
    after = small.state()
    assert after is not None
    assert after.pending == ()
    assert [made["body"]["name"] for made in small.requests(MAKES_NETWORK)] == ["net"]
    assert len(small.cloud()) == 3
