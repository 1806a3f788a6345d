"""Finds the first process of a laptop cloud, by its environment, which is more reliable than a file.

Seen from outside, namespaces are two processes: ``unshare``, which waits, and its child, which is process 1 inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from localcloud.common.layout import SUPERVISOR

HOME = "LLMD_GKE_HOME"


@dataclass(frozen=True)
class NamespacedCluster:
    """A running laptop cloud: its process 1 and the ``unshare`` above it, as numbered outside."""

    init: psutil.Process
    launcher: psutil.Process | None

    def processes(self) -> Iterator[psutil.Process]:
        """All processes inside, including process 1."""
        inside = namespace(self.init.pid, "pid")
        for one in psutil.process_iter():
            if namespace(one.pid, "pid") == inside and inside:
                yield one


def namespace(pid: int | str, kind: str) -> str:
    """The identity of a process's namespace, such as ``pid:[4026532445]``; empty if the process has ended or is another
    user's.
    """
    try:
        return str(Path(f"/proc/{pid}/ns/{kind}").readlink())
    except OSError:
        return ""


def inner_pid(pid: int) -> int:
    """The process ID in the process's own, innermost namespace; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[-1]) for line in lines if line.startswith("NSpid:")), 0)


def running(home: Path) -> NamespacedCluster | None:
    """The running laptop cloud of that folder; ``None`` if there is none."""
    init = launcher = None
    for one in supervisors(home):
        if inner_pid(one.pid) == 1:
            init = one
        else:
            launcher = one
    return NamespacedCluster(init, launcher) if init else None


def supervisors(home: Path) -> list[psutil.Process]:
    """Process 1 and its ``unshare``, as far as they are alive."""
    processes: list[psutil.Process] = []
    for one in psutil.process_iter():
        try:
            ours = SUPERVISOR in one.cmdline() and one.environ().get(HOME) == str(home)
            if ours and one.status() != psutil.STATUS_ZOMBIE:
                processes.append(one)
        except psutil.Error:  # ended in the meantime, or another user's
            continue
    return processes


def inside(home: Path) -> bool:
    """Whether this process runs in the namespaces of that laptop cloud."""
    try:
        command = Path("/proc/1/cmdline").read_bytes().split(b"\0")
        environment = Path("/proc/1/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return SUPERVISOR.encode() in command and f"{HOME}={home}".encode() in environment
