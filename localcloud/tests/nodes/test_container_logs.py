"""The kubelet's endpoint for `kubectl logs`, asked over loopback as the API server asks it, but without TLS."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from localcloud.nodes import logs
from localcloud.nodes.logs import LogFile, Logs

Story = Callable[[asyncio.StreamReader], Awaitable[list[bytes]]]


def ask(file: Path, query: str, story: Story, running: Callable[[], bool] = lambda: False) -> list[bytes]:
    """What ``story`` reads of the answer's body."""

    async def run() -> list[bytes]:
        server = await asyncio.start_server(Logs(lambda *_: LogFile(file, running)).answer, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        try:
            async with asyncio.timeout(20):
                writer.write(f"GET /containerLogs/models/qwen-0/main{query} HTTP/1.1\r\n\r\n".encode())
                assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
                return await story(reader)
        finally:
            writer.close()
            server.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logs, "POLL_SECONDS", 0.01)
        return asyncio.run(run())


async def whole(reader: asyncio.StreamReader) -> list[bytes]:
    return (await reader.read()).splitlines()


def test_following_goes_on_when_the_log_was_moved_aside(tmp_path: Path) -> None:
    file = tmp_path / "main.0.log"
    file.write_bytes(b"a first line that is longer than the next\n")
    runs = True

    async def story(reader: asyncio.StreamReader) -> list[bytes]:
        nonlocal runs
        lines = [await reader.readline()]
        file.write_bytes(b"")
        with file.open("ab") as log:
            log.write(b"new\n")
        lines.append(await reader.readline())
        runs = False
        return lines + await whole(reader)

    lines = ask(file, "?follow=true", story, lambda: runs)
    assert lines == [b"a first line that is longer than the next\n", b"new\n"]


def test_logs_of_the_last_runs_are_kept_and_older_ones_go(tmp_path: Path) -> None:
    for run in range(8):
        for name in ("main", "tokenizer"):
            (tmp_path / f"{name}.{run}.log").touch()
            (tmp_path / f"{name}.{run}.previous.log").touch()
    for run in range(8):
        logs.forget(tmp_path, "main", run)
    kept = sorted(file.name for file in tmp_path.glob("main.*"))
    assert kept == sorted(f"main.{run}{end}" for run in range(3, 8) for end in (".log", ".previous.log"))
    assert len(list(tmp_path.glob("tokenizer.*"))) == 16
