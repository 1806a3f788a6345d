"""Probes of pods on a machine that is slow itself."""

from __future__ import annotations

import asyncio
import os

import pytest

from localcloud.nodes import probes


async def unused(_command: list[str], _seconds: float) -> tuple[int, str]:
    raise NotImplementedError


@pytest.mark.parametrize(("load", "ok"), [(1.0, False), (100.0, True)])
def test_a_late_answer_is_a_pods_fault_only_on_a_machine_with_free_processors(
    monkeypatch: pytest.MonkeyPatch, load: float, ok: bool
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, load, load))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)

    async def slow(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.3)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    async def probed() -> bool:
        async with await asyncio.start_server(slow, "127.0.0.1", 0) as server:
            action = {"path": "/", "port": server.sockets[0].getsockname()[1]}
            probe = {"httpGet": action, "timeoutSeconds": 0.1}
            return (await probes.check(probe, {}, "127.0.0.1", unused)).ok

    assert asyncio.run(probed()) is ok
