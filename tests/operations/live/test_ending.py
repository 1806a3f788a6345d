"""An acceptance run destroys also when its terminal closes, nobody reads its output, or an engine is killed.

Its `make` is a script that notes its calls.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from operations import outputs
from operations.cli import main
from operations.exits import Exit
from operations.live import engine
from operations.target import Target
from tests.operations.live.support import ROOT, calls, go
from tests.waiting import eventually

MAKE = """\
#!/bin/bash
echo $1 >> {folder}/calls
for line in $(seq 20); do echo "$1: line $line"; done
if [ $(wc -l < {folder}/calls) = "$(cat {folder}/held-call)" ]; then
    trap 'echo told >> {folder}/calls; kill %1; exit 1' INT
    tail -f {folder}/held-call > /dev/null 2>&1 &
    touch {folder}/held
    while [ ! -e {folder}/released ]; do wait %1; done
fi
exit 0
"""
LIVE = [sys.executable, "-m", "operations", "live", "--stack", "local", "--cloud", "rehearsal", "--folder"]


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Where `make` is the script; the call whose number is in ``held-call`` waits."""
    (tmp_path / "held-call").write_text("none")
    script = tmp_path / "bin" / "make"
    script.parent.mkdir()
    script.write_text(MAKE.format(folder=tmp_path))
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    yield os.environ | {"PATH": path, "LLMD_GKE_HOME": str(tmp_path / "home"), "LLMD_GKE_CLOUD": "rehearsal"}
    for one in psutil.process_iter(["cmdline"]):  # of a test that failed
        if any(str(tmp_path) in word for word in one.info["cmdline"] or ()):
            one.kill()


def nobody_reads() -> int:
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@pytest.mark.parametrize("closed", ["", "<&- >&- 2>&-"], ids=["unread", "closed"])
def test_a_run_whose_output_nobody_reads_goes_to_its_end(
    tmp_path: Path, environment: dict[str, str], closed: str
) -> None:
    unread = nobody_reads()
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *LIVE, tmp_path / "out"]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=unread, stderr=unread, check=False, timeout=120)
    os.close(unread)
    assert done.returncode == 0
    assert calls(tmp_path) == ["up", "up", "down"]
    assert "| destroy | passed |" in (tmp_path / "out" / "report.md").read_text()


@pytest.mark.parametrize(("step", "sent"), [(1, signal.SIGHUP), (2, signal.SIGTERM)], ids=["up", "second-up"])
def test_a_signal_in_a_step_stops_its_engine_in_order_and_then_the_stack_is_destroyed(
    tmp_path: Path, environment: dict[str, str], step: int, sent: signal.Signals
) -> None:
    (tmp_path / "held-call").write_text(str(step))
    with subprocess.Popen([*LIVE, tmp_path / "out"], cwd=ROOT, env=environment, stderr=subprocess.PIPE) as run:
        eventually((tmp_path / "held").exists, 60)
        started = psutil.Process(run.pid).children(recursive=True)
        for _ in range(3):  # as a terminal that closes may do
            run.send_signal(sent)
        _, errors = run.communicate(timeout=120)
    assert run.returncode == 130, errors
    assert calls(tmp_path) == [*["up"] * step, "told", "down"]
    assert psutil.wait_procs(started, 10)[1] == []
    assert "| destroy | passed |" in (tmp_path / "out" / "report.md").read_text()


def test_no_signal_during_the_destroy_stops_it(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "held-call").write_text("3")
    messages = tmp_path / "messages"
    with (
        messages.open("w") as file,
        subprocess.Popen([*LIVE, tmp_path / "out"], cwd=ROOT, env=environment, stderr=file) as run,
    ):
        eventually((tmp_path / "held").exists, 60)
        waits = next(one for one in psutil.Process(run.pid).children(recursive=True) if one.name() == "tail")
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            run.send_signal(sent)
        eventually(lambda: "what is left costs money" in messages.read_text() or run.poll() is not None)
        (tmp_path / "released").touch()
        waits.terminate()
        assert run.wait(120) == 0
    assert calls(tmp_path) == ["up", "up", "down"]


def test_a_run_below_nohup_does_not_hear_that_its_terminal_closed(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "held-call").write_text("1")
    command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *LIVE, tmp_path / "out"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL) as run:
        eventually((tmp_path / "held").exists, 60)
        waits = next(one for one in psutil.Process(run.pid).children(recursive=True) if one.name() == "tail")
        run.send_signal(signal.SIGHUP)
        (tmp_path / "released").touch()
        waits.terminate()
        assert run.wait(120) == 0
    assert calls(tmp_path) == ["up", "up", "down"]


def test_the_lock_of_a_killed_engine_is_removed_before_the_destroy_is_tried_again(
    commands: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(target: Target) -> list[str]:
        return ["sh", "-c", f"echo cancel >> {commands}/calls"]

    monkeypatch.setattr(engine, "cancel", cancel)
    (commands / "up.sh").write_text("kill -9 $$")
    (commands / "down.sh").write_text(
        f"grep -q cancel {commands}/calls && exit 0; echo locked >> {commands}/calls; exit 255"
    )
    step = go(commands).steps[-1]
    assert (step.name, step.verdict) == ("destroy", "passed")
    assert calls(commands) == ["locked", "cancel"]


def leave(patch: pytest.MonkeyPatch, *names: str) -> None:
    """What the state contains after a destroy."""
    patch.setattr(outputs, "protected", lambda target: ())
    patch.setattr(outputs, "remaining", lambda target: [*names])


def test_a_destroy_that_ended_with_0_and_left_resources_is_tried_again_and_then_fails(
    commands: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave(monkeypatch, "cluster", "pool")
    step = go(commands).steps[-1]
    assert calls(commands)[-2:] == ["down", "down"]
    assert step.verdict == "failed"
    assert "pool, cluster" in step.text


def test_the_destroy_command_fails_after_a_destroy_that_ended_with_0_and_left_resources(
    commands: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Target, "choose", lambda stack, cloud: Target(stack, cloud, commands))
    leave(monkeypatch, *(f"number-{index}" for index in range(49)))
    assert main(["destroy", "--stack", "eu4a", "--cloud", "google", "--yes"]) == 1
    errors = capsys.readouterr().err
    assert "49 resources" in errors
    assert "number-48" in errors
    assert "Fix: llmd-gke destroy --stack eu4a --cloud google" in errors


def test_a_destroy_leaves_models_only_in_a_cluster_that_it_leaves(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["destroy", "--stack", "eu4a", "--cloud", "google", "--yes", "--keep-models"]) == Exit.WRONG_INPUT
    assert "Fix: leave out --keep-models" in capsys.readouterr().err
