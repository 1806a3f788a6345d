"""An update is stopped once a process or a container of the cluster has exited three times, and told why."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from localcloud.cluster import crashes
from localcloud.cluster.processes import API_SERVER
from localcloud.common import cluster_status as status
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir
from localcloud.workflow import runner

HOUR = 3600.0


def process(name: str, state: status.ProcessState, exits: int, age_seconds: float = 0.0) -> status.ProcessStatus:
    return status.ProcessStatus(
        name, state, exits=exits, restarts=exits, last_exit="status 3", since=time.time() - age_seconds
    )


def say(layout: Layout, *processes: status.ProcessStatus) -> None:
    status.write(layout.status, status.Status("ready", "", list(processes)))


def pod(name: str, state: dict[str, Any], restarts: int, **metadata: Any) -> dict[str, Any]:
    container = {"name": "main", "restartCount": restarts, "state": state}
    if "waiting" in state:
        container["lastState"] = {"terminated": {"exitCode": 2}}
    return {
        "metadata": {"namespace": "models", "name": name, "uid": name, **metadata},
        "status": {"containerStatuses": [container]},
    }


BACK_OFF = {"waiting": {"reason": "CrashLoopBackOff"}}
RUNNING = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}


def of_deployment(template: str, created: str) -> dict[str, Any]:
    return {
        "labels": {crashes.TEMPLATE: template},
        "ownerReferences": [{"name": f"server-{template}"}],
        "creationTimestamp": created,
    }


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the API server lists as pods."""
    result: list[Any] = []
    monkeypatch.setattr(crashes, "pods", lambda _workdir: list(result))  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]
    monkeypatch.setattr(crashes, "LOOK_SECONDS", -1.0)
    return result


@pytest.fixture
def watch(layout: Layout) -> crashes.Watch:
    """A watch of that cluster."""
    return crashes.Watch(Workdir(layout.home, layout.home, "laptop"), Console(quiet=True))


def test_a_container_that_has_ended_three_times_stops_the_update(
    layout: Layout, watch: crashes.Watch, listed: list[Any]
) -> None:
    say(layout, process(API_SERVER, "ready", 0))
    assert not watch()
    listed.append(pod("server", BACK_OFF, restarts=1))
    assert not watch()
    listed[:] = [pod("server", BACK_OFF, restarts=2)]
    assert watch()
    assert watch.cause == "container main of pod models/server has exited 3 times (last: status 2)"


def test_a_daemon_that_runs_again_and_a_container_that_runs_or_is_done_stop_nothing(
    layout: Layout, watch: crashes.Watch, listed: list[Any]
) -> None:
    again = process("gateway", "ready", 3, age_seconds=5), process("kubelet", "ready", 9, age_seconds=HOUR)
    say(layout, process(API_SERVER, "ready", 0), *again)
    listed.extend(
        [
            pod("runs", RUNNING, restarts=7),
            pod("done", {"terminated": {"exitCode": 0}}, restarts=3),
            pod("goes", BACK_OFF, restarts=5, deletionTimestamp="2026-01-01T00:00:00Z"),
        ]
    )
    assert not watch()


def test_a_pod_from_before_gets_the_time_to_be_replaced_by_the_update(
    layout: Layout, watch: crashes.Watch, listed: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    say(layout, process(API_SERVER, "ready", 0))
    old = pod("old", BACK_OFF, restarts=8, **of_deployment("a", "2026-01-01T00:00:00Z"))
    listed.append(old)
    assert not watch()
    monkeypatch.setattr(crashes, "OLDER_SECONDS", -1.0)
    listed.append(pod("new", RUNNING, restarts=0, **of_deployment("b", "2026-01-01T00:01:00Z")))
    assert not watch(), "another template replaces it"
    listed.pop()
    assert watch()


@pytest.mark.usefixtures("listed")
def test_the_api_server_is_not_asked_while_it_is_down(
    layout: Layout, watch: crashes.Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crashes, "pods", None)
    say(layout, process(API_SERVER, "starting", 1))
    assert not watch()


def test_the_end_of_the_log_is_that_of_the_run_that_ended(layout: Layout) -> None:
    log = layout.pods / "models_server" / "main.2.log"
    log.parent.mkdir(parents=True)
    log.write_text("error: unknown flag --foo\n")
    (crash,) = crashes.containers(layout, [pod("server", BACK_OFF, restarts=2)])
    assert "error: unknown flag --foo" in crash.with_log()


ENGINE = """
import signal, sys
signal.signal(signal.SIGINT, lambda *_: sys.exit(255))
while True:
    signal.pause()
"""
STUBBORN = ENGINE.replace("sys.exit(255)", "signal.signal(signal.SIGINT, signal.SIG_DFL)")


@pytest.mark.parametrize("engine", [ENGINE, STUBBORN])
def test_a_watch_interrupts_the_engine_and_insists(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    monkeypatch.setattr(runner, "INSIST_SECONDS", 0.1)
    source = engine.replace("while True", f"open({str(started)!r}, 'w')\nwhile True")
    ended = runner.supervise([sys.executable, "-c", source], {}, watch=started.exists)
    assert ended == runner.STOPPED
