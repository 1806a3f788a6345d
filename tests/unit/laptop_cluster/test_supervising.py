"""The supervisor with processes of the test's own: outside of namespaces it behaves the same but for orphans."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from llmd_gke.laptop.cluster import status
from llmd_gke.laptop.cluster.layout import Layout
from llmd_gke.laptop.cluster.service import pause_s
from llmd_gke.laptop.paths import CLONE

SUPERVISE = """
import json, signal, sys
from llmd_gke.laptop.cluster import status
from llmd_gke.laptop.cluster.layout import Layout
from llmd_gke.laptop.cluster.service import Service
from llmd_gke.laptop.cluster.supervisor import STOP, Kept, Supervisor
signal.pthread_sigmask(signal.SIG_BLOCK, {*STOP, signal.SIGCHLD})
asked = json.load(sys.stdin)
services = [Service(one["name"], tuple(one["command"]), tuple(one["after"]), grace_s=1.0) for one in asked]
kept = [Kept(one, status.Process(one.name)) for one in services]
sys.exit(Supervisor(Layout.of_environment(), kept).run())
"""

Supervise = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path)
    made.logs.mkdir(parents=True)
    made.run.mkdir()
    return made


@pytest.fixture
def supervise(layout: Layout) -> Iterator[Supervise]:
    started: list[subprocess.Popen[str]] = []

    def start(**services: tuple[list[str], tuple[str, ...]]) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", SUPERVISE],
            env={**os.environ, "LLMD_GKE_HOME": str(layout.home), "PYTHONPATH": str(CLONE)},
            stdin=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdin
        json.dump([{"name": n, "command": c, "after": a} for n, (c, a) in services.items()], process.stdin)
        process.stdin.close()
        return process

    yield start
    for process in started:
        for one in psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []:
            one.kill()
        process.kill()
        process.wait()


def python(source: str) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(source)]


FOREVER = python("import time\nwhile True: time.sleep(60)")


def until(layout: Layout, holds: Callable[[status.Status], bool], wait_s: float = 60.0) -> status.Status:
    deadline = time.monotonic() + wait_s
    while not ((found := status.read(layout.status)) and holds(found)):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found


def named(found: status.Status, name: str) -> status.Process:
    return next(one for one in found.processes if one.name == name)


def test_what_comes_after_starts_when_the_first_is_ready(layout: Layout, supervise: Supervise) -> None:
    supervise(first=(FOREVER, ()), second=(FOREVER, ("first",)))
    waiting = until(layout, lambda found: named(found, "first").state == "starting")
    assert named(waiting, "second").state == "waiting"
    ready = until(layout, lambda found: found.state == "ready")
    assert named(ready, "second").since > named(ready, "first").since


def test_a_process_that_dies_is_started_again_and_its_death_is_told(layout: Layout, supervise: Supervise) -> None:
    supervise(one=(FOREVER, ()))
    first = named(until(layout, lambda found: found.state == "ready"), "one").pid
    os.kill(first, signal.SIGKILL)
    again = named(
        until(layout, lambda found: named(found, "one").restarts == 1 and named(found, "one").pid != 0), "one"
    )
    assert again.pid != first
    assert again.last_exit == "signal SIGKILL"


def test_a_process_that_cannot_start_fails_the_whole_with_the_end_of_its_log(
    layout: Layout, supervise: Supervise
) -> None:
    good_and_bad = supervise(
        good=(FOREVER, ()), bad=(python("import sys; print('no such flag: --x'); sys.exit(7)"), ("good",))
    )
    assert good_and_bad.wait(timeout=60) == 1
    failed = status.read(layout.status)
    assert failed is not None
    assert failed.state == "failed"
    assert failed.message.startswith("bad does not start (status 7, 4 times). The end of ")
    assert "no such flag: --x" in failed.message
    assert named(failed, "good").state == "stopped"


def test_a_program_that_is_not_there_fails_the_whole(layout: Layout, supervise: Supervise) -> None:
    gone = supervise(gone=([str(layout.home / "gone")], ()))
    assert gone.wait(timeout=60) == 1
    failed = status.read(layout.status)
    assert failed is not None
    assert "No such file or directory" in failed.message


def test_stopping_goes_backwards_and_kills_what_does_not_listen(layout: Layout, supervise: Supervise) -> None:
    ends = layout.home / "ends"
    note = f"""
        import pathlib, signal, sys, time
        def end(*_):
            with pathlib.Path({str(ends)!r}).open("a") as file: file.write(sys.argv[1] + "\\n")
            sys.exit(0)
        signal.signal(signal.SIGTERM, end)
        print("listening", flush=True)
        while True: time.sleep(60)
    """
    deaf = """
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("deaf", flush=True)
        while True: time.sleep(60)
    """
    supervisor = supervise(
        first=([*python(note), "first"], ()),
        second=([*python(note), "second"], ("first",)),
        deaf=(python(deaf), ("first",)),
    )
    ready = until(layout, lambda found: found.state == "ready")
    for name in ("first", "second", "deaf"):
        deadline = time.monotonic() + 60
        while not layout.log(name).read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
    supervisor.terminate()
    assert supervisor.wait(timeout=60) == 0
    assert ends.read_text().split() == ["second", "first"]
    assert not psutil.pid_exists(named(ready, "deaf").pid)


def test_pauses_double_up_to_half_a_minute() -> None:
    assert [pause_s(exits) for exits in (1, 2, 3, 4)] == [0.5, 1.0, 2.0, 4.0]
    assert pause_s(40) == 30.0
