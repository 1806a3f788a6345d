"""Starts and stops the namespaces with the cluster in them, from outside. Starting a running one changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
from rich.console import Console

from llmd_common.problems import Problem, SetUpFailed
from localcloud.cluster import logs, variables
from localcloud.common import cluster_status as status
from localcloud.common.environment import clean
from localcloud.common.layout import SUPERVISOR, Layout
from localcloud.common.lock import in_turn
from localcloud.common.workdir import PACKAGES, Workdir
from localcloud.linux_namespaces import discover, rights

START_SECONDS = 600.0
"""Time limit of a start in seconds, for a busy machine; on two idle cores it takes 6 s."""

STOP_SECONDS = 60.0


def start(
    workdir: Workdir,
    programs: Mapping[str, Path],
    console: Console,
    *,
    only: Sequence[str] | None = None,
) -> None:
    """Starts the cluster unless it runs, and waits until its control plane answers.

    ``only`` names the processes to start; default: all. Raises ``BadInput`` before anything is done, and
    ``SetUpFailed`` with the reason; nothing runs then.
    """
    asked = {
        "programs": {name: str(path) for name, path in programs.items()},
        "only": list(only) if only is not None else None,
    }

    def waiting(_: str) -> None:
        console.print("cluster: another command is starting it; waiting.", highlight=False, soft_wrap=True)

    with in_turn(workdir.home / "start.lock", waiting):  # two etcd would share one folder of data
        _start(workdir, console, asked)


def _start(workdir: Workdir, console: Console, asked: Mapping[str, object]) -> None:
    from localcloud.cluster import pki  # its library is not installed for the rehearsal alone

    layout = Layout(workdir.home)
    if discover.running(workdir.home) and (state := _state(layout)) in ("starting", "ready"):
        if state == "starting":
            wait(layout, None, console)
        return
    variables.check()
    stop(workdir)
    options = rights.options()
    prepare(layout)
    pki.prepare(layout)
    layout.request.write_text(json.dumps(asked))
    command = ["unshare", *options, sys.executable, "-P", "-m", SUPERVISOR]
    environment = clean(os.environ, workdir) | {"PYTHONPATH": str(PACKAGES), "KUBECONFIG": str(layout.kubeconfig)}
    with layout.log("supervisor").open("ab") as log:
        launcher = subprocess.Popen(
            command,
            cwd=workdir.home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait(layout, launcher, console)
    except BaseException:
        stop(workdir)
        raise


def _state(layout: Layout) -> status.State | None:
    """The supervisor's state; ``None`` if the cluster's folder was removed while it ran."""
    if written := status.read(layout.status):
        return written.state
    # It sets up its network before it writes a status; the start that launched it may have been killed in the meantime.
    return "starting" if layout.request.exists() else None


def prepare(layout: Layout) -> None:
    """The folders of a cluster that is about to start; logs of the run before are kept beside the new ones."""
    layout.home.chmod(0o700)  # pods keep their volumes below
    shutil.rmtree(layout.run, ignore_errors=True)
    for folder in (layout.root, layout.run, layout.logs, layout.pods):
        folder.mkdir(parents=True, exist_ok=True)
    layout.etcd.mkdir(mode=0o700, exist_ok=True)
    for log in layout.logs.glob("*.log"):
        if log != (older := logs.previous(log)) and not log.name.endswith(".previous.log"):
            log.replace(older)


def wait(layout: Layout, launcher: subprocess.Popen[bytes] | None, console: Console) -> None:
    """Waits until the supervisor, which we or an earlier command launched, reports the outcome of the start.

    Raises ``SetUpFailed`` if the start fails, if the supervisor exits, and after :data:`START_SECONDS`.
    """
    deadline = time.monotonic() + START_SECONDS
    with console.status("cluster: starting ...") as shown:
        while True:
            cluster = status.read(layout.status)
            if cluster and cluster.state == "ready":
                return
            if cluster and cluster.state == "failed":
                raise SetUpFailed(
                    f"The cluster did not start: {cluster.message}\n"
                    "Fix: make down CLOUD=laptop, then run the command again."
                )
            if launcher.poll() is not None if launcher else not discover.supervisors(layout.home):
                log = layout.log("supervisor")
                raise SetUpFailed(
                    f"The cluster's supervisor exited. The end of {log}:\n{logs.tail(log)}\n"
                    "Fix: correct the cause named there, then run the command again."
                )
            if time.monotonic() > deadline:
                waiting = ", ".join(one.name for one in cluster.processes if one.state != "ready") if cluster else "all"
                raise SetUpFailed(
                    f"The cluster was not ready after {START_SECONDS:.0f} s; not ready: {waiting}. "
                    f"Logs: {layout.logs}\n"
                    "Fix: read the logs, stop other work on this machine, then run the command again."
                )
            if cluster:
                missing = [one.name for one in cluster.processes if one.state != "ready"]
                shown.update(f"cluster: waiting for {', '.join(missing)} ...")
            time.sleep(0.1)


def stop(workdir: Workdir) -> bool:
    """Ends everything inside, in order where possible. Returns whether anything ran. etcd's data are kept."""
    there = discover.supervisors(workdir.home)
    if not there:
        return False
    present = discover.running(workdir.home)
    deadline = time.monotonic() + STOP_SECONDS
    while present and time.monotonic() < deadline:
        # Repeatedly: process 1 of a namespace does not receive a signal that is sent before it installs a handler.
        _quietly(present.init, signal.SIGTERM)
        _, alive = psutil.wait_procs(there, timeout=1.0)
        if not alive:
            break
    for one in discover.supervisors(workdir.home):
        _quietly(one, signal.SIGKILL)
    _, alive = psutil.wait_procs(there, timeout=10)
    if alive:
        raise Problem(
            f"Processes {', '.join(str(one.pid) for one in alive)} do not exit.\nFix: kill -9 these process IDs."
        )
    return True


def _quietly(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.Error:
        return
