"""Process 1 of a laptop cloud: sets up the network, starts the processes in order, keeps them running, ends them.

When it ends, the kernel ends everything else in the namespaces: nothing can outlive it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from localcloud.cluster import processes
from localcloud.cluster.logs import keep_small, tail
from localcloud.cluster.service import ATTEMPTS, STABLE_SECONDS, Service, pause_seconds
from localcloud.common import cluster_renewal as renew
from localcloud.common import cluster_status as status
from localcloud.common.layout import Layout
from localcloud.linux_namespaces import etc, network

STOP = (signal.SIGTERM, signal.SIGINT)
TICK_SECONDS = 0.2
ROTATE_EVERY_SECONDS = 30.0


@dataclass
class Kept:
    """A service and the state of its process."""

    service: Service
    seen: status.ProcessStatus
    process: subprocess.Popen[bytes] | None = None
    next_start: float = 0.0
    was_ready: bool = False


@dataclass
class Supervisor:
    """Keeps the services of one cluster running."""

    layout: Layout
    kept: list[Kept]
    state: status.State = "starting"
    message: str = ""
    written: str = ""
    rotated: float = field(default_factory=time.monotonic)

    def run(self) -> int:
        """Runs until it is stopped or a start fails. Returns the exit status."""
        while self.state not in ("failed", "stopping"):
            self.reap()
            self.step()
            self.report()
            waits = self.state == "starting" or any(one.seen.state != "ready" for one in self.kept)
            came = signal.sigtimedwait({*STOP, renew.RENEW, signal.SIGCHLD}, TICK_SECONDS if waits else 5.0)
            if came and came.si_signo in STOP:
                self.state = "stopping"
            elif came and came.si_signo == renew.RENEW:
                self.renew()
            self.rotate_logs()
        failed = self.state == "failed"
        self.report()
        self.stop()
        return 1 if failed else 0

    def step(self) -> None:
        """Starts services whose dependencies are ready, and notes which have become ready."""
        now = time.monotonic()
        ready = {one.service.name for one in self.kept if one.was_ready}
        for one in self.kept:
            if one.process is None and now >= one.next_start and set(one.service.after) <= ready:
                self.start(one)
            if one.process is not None and one.seen.state == "starting" and not one.service.ready():
                one.seen.state, one.was_ready = "ready", True
        if self.state == "starting" and all(one.was_ready for one in self.kept):
            self.state = "ready"

    def start(self, one: Kept) -> None:
        """Starts a process, in a session of its own, with its output in its log."""
        if one.service.mark:
            one.service.mark.unlink(missing_ok=True)
        with self.layout.log(one.service.name).open("ab") as log:
            try:
                one.process = subprocess.Popen(
                    one.service.command,
                    env={**os.environ, **one.service.environment},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=_unblock,
                )
            except OSError as error:
                log.write(f"{one.service.command[0]}: {error}\n".encode())
                self.ended(one, str(error))
                return
        one.seen.pid, one.seen.state, one.seen.since = one.process.pid, "starting", time.time()

    def reap(self) -> None:
        """Reaps every process that has ended, also orphans, which process 1 inherits."""
        while True:
            try:
                pid, code = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for one in self.kept:
                if one.process is not None and one.process.pid == pid:
                    one.process.returncode = os.waitstatus_to_exitcode(code)
                    self.ended(one, _exit(one.process.returncode))

    def ended(self, one: Kept, how: str) -> None:
        """Handles the end of a process, or a failed start: schedules a restart, or lets the cluster's start fail."""
        one.process, one.seen.pid = None, 0
        if self.state in ("stopping", "failed"):
            one.seen.state = "stopped"
            return
        if one.was_ready and time.time() - one.seen.since > STABLE_SECONDS:
            one.seen.exits = 0
        one.seen.exits += 1
        one.seen.state, one.seen.last_exit = "pausing", how
        one.seen.restarts += 1
        one.next_start = time.monotonic() + pause_seconds(one.seen.exits)
        if not one.was_ready and one.seen.exits >= ATTEMPTS and self.state == "starting":
            self.state = "failed"
            log = self.layout.log(one.service.name)
            self.message = (
                f"{one.service.name} failed to start ({how}, {one.seen.exits} times). The end of {log}:\n{tail(log)}"
            )

    def stop(self) -> None:
        """Ends everything in reverse order: the processes that use the API server first, etcd last."""
        levels = [[one for one in self.kept if one.service.after == after] for after in _orders(self.kept)]
        for level in reversed(levels):
            alive = [one for one in level if one.process is not None]
            for one in alive:
                _signal(one, signal.SIGTERM)
            deadline = time.monotonic() + max((one.service.grace_seconds for one in alive), default=0.0)
            while any(one.process is not None for one in alive) and time.monotonic() < deadline:
                signal.sigtimedwait({signal.SIGCHLD}, 0.1)
                self.reap()
            for one in alive:
                _signal(one, signal.SIGKILL)
            while any(one.process is not None for one in alive):
                signal.sigtimedwait({signal.SIGCHLD}, 0.1)
                self.reap()
            self.report()

    def renew(self) -> None:
        """Ends everything, removes the data of etcd and pods, and starts again: a new cluster."""
        self.state, self.message = "starting", ""
        self.stop()
        for folder in (self.layout.etcd, self.layout.pods):
            for entry in folder.iterdir():
                shutil.rmtree(entry, ignore_errors=True)
        for one in self.kept:
            one.was_ready, one.next_start = False, 0.0
            # It exited because it was stopped.
            one.seen.state, one.seen.restarts, one.seen.exits, one.seen.last_exit = "waiting", 0, 0, ""
        self.report()
        renew.asked(self.layout).unlink(missing_ok=True)

    def rotate_logs(self) -> None:
        """Keeps the logs small."""
        if time.monotonic() - self.rotated > ROTATE_EVERY_SECONDS:
            self.rotated = time.monotonic()
            keep_small(self.layout)

    def report(self) -> None:
        """Writes the status if it has changed."""
        now = status.Status(self.state, self.message, [one.seen for one in self.kept])
        if self.written != repr(now):
            self.written = repr(now)
            # Somebody may remove the folder of a running cluster; commands that look for it notice that.
            if self.layout.run.is_dir():
                status.write(self.layout.status, now)


def _orders(kept: Sequence[Kept]) -> list[tuple[str, ...]]:
    orders: list[tuple[str, ...]] = []
    for one in kept:
        if one.service.after not in orders:
            orders.append(one.service.after)
    return orders


def _signal(one: Kept, number: signal.Signals) -> None:
    if one.process is not None:
        try:
            os.kill(one.process.pid, number)
        except ProcessLookupError:
            return


def _exit(code: int) -> str:
    return f"status {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


def _unblock() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {*STOP, renew.RENEW, signal.SIGCHLD})


def main() -> int:
    """Reads what to start, sets up the namespaces, and supervises."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {*STOP, renew.RENEW, signal.SIGCHLD})
    layout = Layout.of_environment()
    asked = cast("Mapping[str, object]", json.loads(layout.request.read_text()))
    programs = {name: Path(path) for name, path in cast("Mapping[str, str]", asked["programs"]).items()}
    only = cast("Sequence[str] | None", asked["only"])
    network.set_up()
    etc.set_up(layout.run / "etc")
    all_services = processes.services(layout, programs)
    kept = [Kept(one, status.ProcessStatus(one.name)) for one in all_services if only is None or one.name in only]
    return Supervisor(layout, kept).run()


if __name__ == "__main__":
    sys.exit(main())
