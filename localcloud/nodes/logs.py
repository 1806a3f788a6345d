"""The kubelet's endpoint for `kubectl logs`: port 10250 of every node's address.

The API server asks for ``/containerLogs/NAMESPACE/POD/CONTAINER`` with ``follow``, ``previous``, ``tailLines`` and
``limitBytes`` (k8s.io/kubernetes ``pkg/kubelet/server/server.go``), and shows its client certificate. Lines have no
times: containers write to their files themselves. ``exec``, ``attach`` and ``port-forward`` are not imitated.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

POLL_SECONDS = 0.3
KEPT_RUNS = 5
"""Logs of a container's last runs that are kept."""
CHUNK = 1 << 16


@dataclass(frozen=True)
class LogFile:
    """A container's log, and whether its container may still write to it."""

    file: Path
    running: Callable[[], bool]


Find = Callable[[str, str, str, bool], LogFile | None]
"""Namespace, pod, container, and whether the one before the last restart is meant."""


class Logs:
    """Answers requests for logs."""

    def __init__(self, find: Find) -> None:
        self._find = find

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers the one request of a connection."""
        try:
            async with asyncio.timeout(10):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            await self._serve(head.split()[1], writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, IndexError, ValueError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _serve(self, target: str, writer: asyncio.StreamWriter) -> None:
        url = urlsplit(target)
        asked = {key: values[-1] for key, values in parse_qs(url.query).items()}
        parts = url.path.strip("/").split("/")
        log_file = None
        if len(parts) == 4 and parts[0] == "containerLogs":
            log_file = self._find(parts[1], parts[2], parts[3], asked.get("previous") == "true")
        if log_file is None or not log_file.file.exists():
            text = f"no log at {url.path} (exec and port-forward are not imitated)\n".encode()
            writer.write(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n" + text)
            await writer.drain()
            return
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n")
        limit = int(asked["limitBytes"]) if "limitBytes" in asked else None
        with log_file.file.open("rb") as file:
            file.seek(_start(log_file.file, int(asked["tailLines"]) if "tailLines" in asked else None))
            while limit is None or limit > 0:
                running = log_file.running()
                data = file.read(CHUNK if limit is None else min(CHUNK, limit))
                if data:
                    limit = None if limit is None else limit - len(data)
                    writer.write(data)
                    await writer.drain()
                elif asked.get("follow") == "true" and running and not writer.is_closing():
                    if os.fstat(file.fileno()).st_size < file.tell():
                        file.seek(0)  # it became too large, and was truncated
                    await asyncio.sleep(POLL_SECONDS)
                else:
                    return


def forget(folder: Path, container: str, run: int) -> None:
    """Removes the log that is too old once the container runs for that time (counted from 0)."""
    for end in (".log", ".previous.log"):
        (folder / f"{container}.{run - KEPT_RUNS}{end}").unlink(missing_ok=True)


def _start(file: Path, lines: int | None) -> int:
    """The offset in bytes at which the last ``lines`` lines begin; 0 for ``None``."""
    if lines is None:
        return 0
    content = file.read_bytes()
    position = len(content)
    for _ in range(lines):
        if position <= 0:
            return 0
        position = content.rfind(b"\n", 0, max(position - 1, 0)) + 1
    return position
