"""The script that joins the hosts of a slice, run as a container runs it, with a `ray` that only writes down."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from llmd_gke.manifests import multi_host

RAY = """#!/bin/sh
echo "ray $*" >> "$LOG"
"""
SERVER = """#!/bin/sh
echo "server $*" >> "$LOG"
"""
MODULE = """
import os, pathlib
def init(**how): assert how["address"] == "auto"
def nodes():
    alive = int(pathlib.Path(os.environ["HOSTS"]).read_text())
    return [{"Alive": True}] * alive + [{"Alive": False}] * 3
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log"
    file.touch()
    return file


@pytest.fixture
def hosts(tmp_path: Path) -> Path:
    file = tmp_path / "hosts"
    file.write_text("1")
    return file


@pytest.fixture
def start(tmp_path: Path, log: Path, hosts: Path) -> Iterator[Start]:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in {"ray": RAY, "serve": SERVER}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "ray.py").write_text(MODULE)
    running: list[subprocess.Popen[str]] = []

    def run(*role: str, **environment: str) -> subprocess.Popen[str]:
        python, *arguments = [str(word) for word in multi_host.command(role[0], *role[1:])]
        assert python == "python3"
        process = subprocess.Popen(
            [sys.executable, *arguments],
            env={
                "PATH": f"{folder}:{os.environ['PATH']}",
                "PYTHONPATH": str(modules),
                "LOG": str(log),
                "HOSTS": str(hosts),
                "HOST_GROUP_PAUSE_SECONDS": "0.05",
                **environment,
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield run
    for process in running:
        process.kill()
        process.wait()
        assert process.stdout
        process.stdout.close()


def lines(process: subprocess.Popen[str], start: str) -> str:
    """Reads the process's output up to a line that begins so."""
    assert process.stdout
    for line in process.stdout:
        if line.startswith(start):
            return line
    raise AssertionError(f"ended without a line that begins with {start!r}")


def test_the_leader_serves_only_when_every_host_has_joined(start: Start, log: Path, hosts: Path) -> None:
    leader = start("leader", "serve", "/mnt/models", "--port", "8000", LWS_GROUP_SIZE="4")
    lines(leader, "hosts in the group: 1 of 4")
    hosts.write_text("3")
    lines(leader, "hosts in the group: 3 of 4")
    assert log.read_text() == "ray start --head --port=6379 --disable-usage-stats\n"
    hosts.write_text("4")
    assert leader.wait(30) == 0
    assert log.read_text().splitlines()[1:] == ["server /mnt/models --port 8000"]


def test_hosts_that_are_gone_do_not_count(start: Start, log: Path, hosts: Path) -> None:
    leader = start("leader", "serve", LWS_GROUP_SIZE="3")
    lines(leader, "hosts in the group: 1 of 3")  # beside three that are not alive
    assert "server" not in log.read_text()


def test_a_worker_waits_for_its_leader_and_stays_with_it(start: Start, log: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        worker = start("worker", LWS_LEADER_ADDRESS="127.0.0.1", RAY_PORT=str(port))
        lines(worker, "waiting for the leader 127.0.0.1")
        assert worker.poll() is None, "a container that ends makes the whole group start anew"
        listener.listen()
        assert worker.wait(30) == 0
    assert log.read_text() == f"ray start --address=127.0.0.1:{port} --block --disable-usage-stats\n"


def test_a_leader_whose_name_does_not_resolve_yet_is_waited_for(start: Start) -> None:
    worker = start("worker", LWS_LEADER_ADDRESS="leader.invalid")
    lines(worker, "waiting for the leader leader.invalid")
    assert worker.poll() is None


@pytest.mark.parametrize("role", ["leader", "worker"])
def test_a_pod_that_is_told_to_go_while_it_waits_goes(start: Start, role: str) -> None:
    process = start(role, "serve", LWS_GROUP_SIZE="9", LWS_LEADER_ADDRESS="leader.invalid")
    lines(process, "hosts" if role == "leader" else "waiting")
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0


def test_the_script_has_nothing_that_kserve_or_kubernetes_would_fill_in() -> None:
    text = multi_host.SCRIPT.read_text()
    assert "{{" not in text, "KServe reads configurations as Go templates"
    assert "$(" not in text, "Kubernetes fills in $(NAME) in commands"
