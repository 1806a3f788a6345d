"""The supervisor with processes of the test's own: outside of namespaces it behaves the same but for orphans."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator

import psutil
import pytest

from llmd_gke.repository import CLONE
from localcloud.cluster.service import Service, written
from localcloud.cluster.supervisor import Kept, Supervisor
from localcloud.common import cluster_status as status
from localcloud.common.layout import Layout

SUPERVISE = """
import json, signal, sys
from localcloud.common import cluster_renewal as renew, cluster_status as status
from localcloud.common.layout import Layout
from localcloud.cluster.service import Service, written
from localcloud.cluster.supervisor import STOP, Kept, Supervisor
signal.pthread_sigmask(signal.SIG_BLOCK, {*STOP, renew.RENEW, signal.SIGCHLD})
layout = Layout.of_environment()
kept = []
for one in json.load(sys.stdin):
    name, mark = one["name"], layout.mark(one["name"])
    service = Service(
        name,
        tuple(one["command"]),
        ready=written(mark),
        after=tuple(one["after"]),
        mark=mark,
        environment={"MARK": str(mark)},
        grace_seconds=1.0,
    )
    kept.append(Kept(service, status.ProcessStatus(name)))
sys.exit(Supervisor(layout, kept).run())
"""

Supervise = Callable[..., subprocess.Popen[str]]


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


READY = """
    import os, pathlib, signal
    pathlib.Path(os.environ["MARK"]).touch()
    while True: signal.pause()
"""
FOREVER = python(READY)


def and_then_ready(source: str) -> list[str]:
    """A program that is ready once ``source`` has been run, and runs on."""
    return python(textwrap.dedent(source) + textwrap.dedent(READY))


def until(layout: Layout, holds: Callable[[status.Status], bool], wait_seconds: float = 60.0) -> status.Status:
    deadline = time.monotonic() + wait_seconds
    while not ((state := status.read(layout.status)) and holds(state)):
        assert time.monotonic() < deadline, state
        time.sleep(0.05)
    return state


def named(cluster: status.Status, name: str) -> status.ProcessStatus:
    return next(one for one in cluster.processes if one.name == name)


def test_what_comes_after_starts_when_the_first_is_ready(layout: Layout, supervise: Supervise) -> None:
    pipe = layout.home / "words"
    os.mkfifo(pipe)
    descriptor = os.open(pipe, os.O_RDWR)
    supervise(first=(and_then_ready(f"open({str(pipe)!r}).readline()"), ()), second=(FOREVER, ("first",)))
    waiting = until(layout, lambda state: named(state, "first").state == "starting")
    assert named(waiting, "second").state == "waiting"
    os.write(descriptor, b"be ready\n")
    ready = until(layout, lambda state: state.state == "ready")
    assert named(ready, "second").since > named(ready, "first").since
    os.close(descriptor)


@pytest.fixture
def alone(layout: Layout) -> Iterator[Supervisor]:
    """A supervisor in this very process, of one process that runs on and is never ready by itself."""
    mark = layout.mark("one")
    service = Service("one", tuple(python("import signal\nsignal.pause()")), ready=written(mark), mark=mark)
    made = Supervisor(layout, [Kept(service, status.ProcessStatus("one"))])
    yield made
    for one in made.kept:
        if one.process:
            one.process.kill()
            one.process.wait()


def test_a_process_counts_as_ready_when_it_says_so_however_long_it_has_lived(alone: Supervisor) -> None:
    kept = alone.kept[0]
    alone.step()
    kept.seen.since -= 3600
    alone.step()
    assert (kept.seen.state, alone.state) == ("starting", "starting")
    alone.layout.mark("one").touch()
    alone.step()
    assert (kept.seen.state, alone.state) == ("ready", "ready")


def test_what_an_earlier_run_has_said_does_not_count(alone: Supervisor) -> None:
    alone.layout.mark("one").touch()
    alone.step()
    assert alone.kept[0].process is not None
    assert alone.kept[0].seen.state == "starting"


def test_stopping_goes_backwards_and_kills_what_does_not_listen(layout: Layout, supervise: Supervise) -> None:
    ends = layout.home / "ends"
    note = f"""
        import pathlib, signal, sys
        def end(*_):
            with pathlib.Path({str(ends)!r}).open("a") as file: file.write(sys.argv[1] + "\\n")
            sys.exit(0)
        signal.signal(signal.SIGTERM, end)
    """
    deaf = """
        import signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    """
    supervisor = supervise(
        first=([*and_then_ready(note), "first"], ()),
        second=([*and_then_ready(note), "second"], ("first",)),
        deaf=(and_then_ready(deaf), ("first",)),
    )
    ready = until(layout, lambda state: state.state == "ready")
    supervisor.terminate()
    assert supervisor.wait(timeout=60) == 0
    assert ends.read_text().split() == ["second", "first"]
    assert not psutil.pid_exists(named(ready, "deaf").pid)
