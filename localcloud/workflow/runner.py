"""Runs engine commands: signals reach the engine exactly once, and it may finish its step."""

from __future__ import annotations

import errno
import math
import os
import shutil
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from llmd_common import child_process
from llmd_common.problems import Problem
from localcloud.common.environment import clean
from localcloud.common.workdir import Workdir
from localcloud.pulumi_cli.discover import Engine
from localcloud.workflow import backend

STOPPED = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INSIST_SECONDS = 20.0
"""Seconds after which an engine that was interrupted by a watch gets a second signal, at which it exits at once."""

REST_SECONDS = 30
"""Seconds to wait for the last output of an engine that has ended: its children may hold the pipe open."""

FROM_KERNEL = 0x80
"""``si_code`` of a signal that the terminal sent (Linux, SI_KERNEL): the whole foreground group got it."""


Watch = Callable[[], bool]
"""Returns whether a command has to be stopped."""


@dataclass
class Interruption:
    """Decides when a watched command gets a signal: when the watch returns true, and again if the command continues
    after that.
    """

    watch: Watch | None
    _again: float = field(default=0.0, init=False)

    def due(self) -> bool:
        """Whether a signal has to be sent now."""
        if self.watch is None or not (time.monotonic() > self._again if self._again else self._announced()):
            return False
        self._again = math.inf if self._again else time.monotonic() + INSIST_SECONDS
        return True

    def _announced(self) -> bool:
        """The watch's answer. A watch that raises an error, such as on a full disk, must not orphan the engine."""
        try:
            return self.watch is not None and self.watch()
        except OSError:
            return False


@dataclass(frozen=True)
class Runner:
    """Runs the engine for one rehearsal or laptop cloud."""

    workdir: Workdir
    engine: Engine

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the engine and of the processes that it starts."""
        return clean(os.environ, self.workdir)

    def ask(self, *arguments: str, folder: str | None = None) -> str:
        """Runs a short command and returns its output. Raises ``Problem`` with the engine's message if it fails."""
        command = self._command("-C", folder or str(self.workdir.root), "--non-interactive", *arguments)
        done = child_process.run(command, environment=self.environment)
        if done.returncode < 0:
            raise Problem(f"`pulumi {' '.join(arguments)}` was killed.\nFix: run the command again; it continues.")
        if done.returncode:
            raise Problem(
                f"{(done.stderr or done.stdout).strip()}\n\n`pulumi {' '.join(arguments)}` failed.\n"
                "Fix: correct the error above, then run the command again."
            )
        return done.stdout

    def stream(self, *arguments: str, events: Path | None = None, watch: Watch | None = None) -> int:
        """Runs a command on the user's terminal. Returns 0, the engine's status, 130 if it was stopped, or the negative
        number of the signal that killed it.

        The engine's own events go to the file ``events``, line by line. ``watch`` is called every second; the engine is
        stopped once it returns true.
        """
        environment = self.environment
        if events:
            arguments += ("--event-log", str(events))
            environment["PULUMI_DEBUG_COMMANDS"] = "true"  # otherwise the option does not exist
        command = self._command("-C", str(self.workdir.root), *arguments)
        status = supervise(command, environment, watch)
        # Inside a laptop cloud it ends as in a shell (``linux_namespaces/enter.py``).
        return 128 - status if 128 < status <= 128 + signal.SIGRTMAX and status != STOPPED else status

    def _command(self, *arguments: str) -> list[str]:
        """The engine's command line, where the clouds of its providers can be reached."""
        return backend.of(self.workdir).command_line([str(self.engine.pulumi), *arguments])


def supervise(command: Sequence[str], environment: Mapping[str, str], watch: Watch | None = None) -> int:
    """Runs a command, passes signals on, and interrupts it when ``watch`` returns true.

    On a terminal the engine shares our process group, so that it may use the terminal; Ctrl-C then reaches it without
    us. Without a terminal it has a group of its own, and every signal is passed on. A second Ctrl-C makes the engine
    stop at once; that choice stays with the user.

    A command that got a signal or was interrupted counts as stopped also if it ends with 0: an engine that is cancelled
    while it deletes does that, whatever remains (pulumi/pulumi v3.259.0, pkg/resource/deploy/deployment_executor.go).
    """
    shares_group = sys.stdin.isatty()
    # Blocked, so that signals wait until they are fetched; the command starts with none blocked.
    signal.pthread_sigmask(signal.SIG_BLOCK, {*SIGNALS, signal.SIGCHLD})
    stopped, interrupted, interruption = False, False, Interruption(watch)
    try:
        process, relay = _spawn(command, environment, shares_group=shares_group)
        while (status := _status(process)) is None:
            came = signal.sigtimedwait({*SIGNALS, signal.SIGCHLD}, 1.0)
            if came is None or came.si_signo == signal.SIGCHLD:
                if not stopped and interruption.due():
                    interrupted = True
                    os.kill(process, signal.SIGINT)
                continue
            stopped = True
            if not (shares_group and came.si_signo == signal.SIGINT and came.si_code == FROM_KERNEL):
                os.kill(process, signal.SIGINT)
        if relay:
            relay.join(REST_SECONDS)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {*SIGNALS, signal.SIGCHLD})
    return STOPPED if stopped or interrupted else status


def _spawn(
    command: Sequence[str], environment: Mapping[str, str], *, shares_group: bool
) -> tuple[int, threading.Thread | None]:
    """Starts a command with no signal blocked; returns its process ID, and the thread that relays its output to a pipe.

    ``subprocess`` can unblock signals only in a function that runs in a forked copy of this process. gRPC's fork
    handlers abort such a copy while one of its threads is at work, so the C library spawns the command.
    """
    program = shutil.which(command[0], path=environment.get("PATH", os.defpath))
    if program is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    ignored_by_python = (signal.SIGPIPE, signal.SIGXFSZ)
    spawn = partial(os.posix_spawn, program, list(command), environment, setsigmask=(), setsigdef=ignored_by_python)
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = []
    if not shares_group:
        spawn = partial(spawn, setpgroup=0)
        actions.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
    sys.stdout.flush()
    if not stat.S_ISFIFO(os.fstat(1).st_mode):
        return spawn(file_actions=actions), None
    reading, writing = os.pipe()
    outputs = [1, 2] if os.path.sameopenfile(1, 2) else [1]
    actions += [(os.POSIX_SPAWN_DUP2, writing, output) for output in outputs]
    try:
        process = spawn(file_actions=actions)
    finally:
        os.close(writing)
    relay = threading.Thread(target=_relay, args=(reading,), daemon=True)
    relay.start()
    return process, relay


def _relay(reading: int) -> None:
    """Copies an engine's output to ours, and drops it once nobody reads that: its own write would kill the engine."""
    unread = False
    with open(reading, "rb", buffering=0) as pipe:
        while piece := pipe.read(65536):
            while piece and not unread:
                try:
                    piece = piece[os.write(1, piece) :]
                except OSError:
                    unread = True


def _status(process: int) -> int | None:
    """The status with which the process ended, negative for a signal; ``None`` while it runs."""
    ended, status = os.waitpid(process, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None
