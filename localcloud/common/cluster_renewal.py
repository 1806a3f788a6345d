"""A new cluster for a program that creates its second one: Google deletes a cluster with everything in it.

The program's objects are deleted one by one, its controllers together with the cluster (``deleted_with``). Here there
is one control plane, so it is emptied when the next cluster is created.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from llmd_common.problems import Problem
from localcloud.common import cluster_status as status
from localcloud.common.layout import SUPERVISOR, Layout

RENEW = signal.SIGHUP
"""The signal that makes the supervisor stop everything, remove the data of etcd and the pods, and start again."""

WAIT_SECONDS = 120.0
FIX = (
    "Fix: correct the cause named in the logs or stop other work on this machine, then make down CLOUD=laptop "
    "and make up again."
)


def asked(layout: Layout) -> Path:
    """The file that exists while a renewal is requested but has not begun."""
    return layout.run / "renew"


def used(layout: Layout) -> Path:
    """The file that exists once a cluster of the program has used this control plane."""
    return layout.root / "used"


def take(layout: Layout) -> None:
    """Ensures that a new cluster gets an empty control plane. Called inside the namespaces.

    Raises ``Problem`` if the control plane does not restart.
    """
    if used(layout).exists() and (layout.etcd / "member").is_dir():
        _renew(layout)
    used(layout).touch()


def _renew(layout: Layout) -> None:
    # Process 1 of another namespace, such as the machine's own, must not get the signal.
    if SUPERVISOR.encode() not in Path("/proc/1/cmdline").read_bytes():
        raise Problem("This command was not started inside the laptop cloud.\nFix: make shell CLOUD=laptop")
    asked(layout).touch()
    os.kill(1, RENEW)
    wait(layout)


def wait(layout: Layout) -> None:
    """Waits until a requested renewal is complete. Raises ``Problem`` if there is no control plane afterwards."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        cluster = status.read(layout.status)
        if cluster and not asked(layout).exists() and cluster.state != "starting":
            if cluster.state == "ready":
                return
            raise Problem(f"The cleared control plane does not start: {cluster.message or cluster.state}\n{FIX}")
        time.sleep(0.2)
    raise Problem(f"The cleared control plane was not ready after {WAIT_SECONDS:.0f} s. Logs: {layout.logs}\n{FIX}")
