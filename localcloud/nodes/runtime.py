"""Processes of containers: starts them in the pod's namespaces, waits for them, signals them, and runs commands in them
(``exec``).
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from localcloud.nodes.sandbox import LAUNCHER

PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Mount:
    """A file or folder of this machine that the container sees at ``target``."""

    source: str
    target: str
    read_only: bool = False


@dataclass(frozen=True)
class Launch:
    """A container's command, environment and files. ``files``: path to content; ``links``: path to target."""

    command: list[str]
    environment: dict[str, str]
    folder: str = "/"
    image: list[Mount] = field(default_factory=list[Mount])
    mounts: list[Mount] = field(default_factory=list[Mount])
    files: dict[str, str] = field(default_factory=dict[str, str])
    links: dict[str, str] = field(default_factory=dict[str, str])
    read_only_root: bool = False


class NotStarted(Exception):
    """The process could not be started; the text says why, as a container runtime would."""


def become_subreaper() -> None:
    """Makes this process the parent of the processes that its launchers leave behind."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Process:
    """A process of a container; the first one of its own process namespace, if it was started and not ``exec``'d."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._descriptor = os.pidfd_open(pid)
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().add_reader(self._descriptor, self._reap)

    def _reap(self) -> None:
        asyncio.get_running_loop().remove_reader(self._descriptor)
        try:
            result = os.waitid(os.P_PIDFD, self._descriptor, os.WEXITED)
        except ChildProcessError:
            result = None
        os.close(self._descriptor)
        killed = result is not None and result.si_code in (os.CLD_KILLED, os.CLD_DUMPED)
        status = 128 if result is None else result.si_status + (128 if killed else 0)
        if not self._ended.done():
            self._ended.set_result(status)

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return not self._ended.done()

    async def wait(self) -> int:
        """The exit status, 128 and the signal's number if one ended it."""
        return await asyncio.shield(self._ended)

    def send(self, number: signal.Signals) -> None:
        """Sends a signal; does nothing if the process has ended."""
        if self.running:
            signal.pidfd_send_signal(self._descriptor, number)

    async def end(self, grace_seconds: float, number: signal.Signals = signal.SIGTERM) -> int:
        """Sends ``number``, and SIGKILL after ``grace_seconds``; returns the exit status."""
        self.send(number)
        try:
            async with asyncio.timeout(max(grace_seconds, 0)):
                return await self.wait()
        except TimeoutError:
            self.send(signal.SIGKILL)
            return await self.wait()


async def start(launch: Launch, pod: int, root: Path, log: Path) -> Process:
    """Starts a container's process in the sandbox whose process is ``pod``; its output is appended to ``log``.

    ``root``: any empty folder. Raises :class:`NotStarted`.
    """
    spec: dict[str, Any] = {
        "pod": pod,
        "root": str(root),
        "command": launch.command,
        "environment": launch.environment,
        "folder": launch.folder,
        "image": [_mount_spec(mount) for mount in launch.image],
        "mounts": [_mount_spec(mount) for mount in launch.mounts],
        "files": launch.files,
        "links": launch.links,
        "readOnlyRoot": launch.read_only_root,
    }
    with log.open("ab") as output:
        return Process(await _launch("start", spec, output.fileno()))


KEPT_BYTES = 10_000
"""Bytes that are kept of a command's output; a probe's event shows no more."""


async def execute(
    inside: Process, pod: int, command: list[str], environment: dict[str, str], seconds: float
) -> tuple[int, str]:
    """Runs a command in a container that runs: status and output. Raises ``TimeoutError`` and :class:`NotStarted`."""
    spec: dict[str, Any] = {
        "pod": pod,
        "container": inside.pid,
        "command": command,
        "environment": environment,
        "folder": "/",
    }
    reads, writes = os.pipe()
    try:
        process = Process(await _launch("exec", spec, writes))
    except BaseException:
        os.close(reads)
        raise
    finally:
        os.close(writes)
    kept = bytearray()

    def read() -> None:
        part = os.read(reads, 65536)
        kept.extend(part[: KEPT_BYTES - len(kept)])
        if not part:
            loop.remove_reader(reads)

    # Read while it runs: a full pipe would block the command until its time limit.
    loop = asyncio.get_running_loop()
    os.set_blocking(reads, False)
    loop.add_reader(reads, read)
    try:
        async with asyncio.timeout(seconds):
            status = await process.wait()
        with contextlib.suppress(BlockingIOError):  # its last output
            read()
    except (TimeoutError, asyncio.CancelledError):
        process.send(signal.SIGKILL)
        raise
    finally:
        loop.remove_reader(reads)
        os.close(reads)
    return status, kept.decode(errors="replace")


async def _launch(mode: str, spec: dict[str, Any], output: int) -> int:
    reads, writes = os.pipe()
    with os.fdopen(reads) as answer:
        try:
            launcher = await asyncio.create_subprocess_exec(
                *LAUNCHER,
                mode,
                str(writes),
                pass_fds=(writes,),
                stdin=asyncio.subprocess.PIPE,
                stdout=output,
                stderr=output,
                env={"PATH": os.defpath},
            )
        finally:
            os.close(writes)
        # The secrets of an environment go by a pipe: arguments and files can be read by others.
        await launcher.communicate(json.dumps(spec).encode())
        lines = (await asyncio.to_thread(answer.read)).splitlines()
    pid = next((int(line) for line in lines if line.isdigit()), 0)
    error = next((line.removeprefix("error ") for line in lines if line.startswith("error ")), "")
    if error or not pid:
        if pid:
            await Process(pid).wait()
        raise NotStarted(error or "the launcher did not start it")
    return pid


def _mount_spec(mount: Mount) -> dict[str, object]:
    return {"source": mount.source, "target": mount.target, "readOnly": mount.read_only}
