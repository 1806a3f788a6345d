"""Connections to a ClusterIP reach its endpoints in turn, and end as direct ones do."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest

from localcloud.service_network.kube_proxy import Proxy
from localcloud.service_network.routing_table import Address

Reader = asyncio.StreamReader
Writer = asyncio.StreamWriter
Talk = Callable[[Reader, Writer], Awaitable[None]]


def free() -> Address:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[:2]


@contextlib.asynccontextmanager
async def endpoint(talk: Talk) -> AsyncGenerator[Address]:
    """A server on a port of its own."""

    async def answer(reader: Reader, writer: Writer) -> None:
        with contextlib.suppress(ConnectionError):
            await talk(reader, writer)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()
    finally:
        server.close()


def naming(name: bytes) -> Talk:
    """Speaks first, before it has read anything."""

    async def talk(reader: Reader, writer: Writer) -> None:
        writer.write(name)
        await writer.drain()
        await reader.read()

    return talk


async def echo(reader: Reader, writer: Writer) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()


async def first_bytes(address: Address) -> bytes:
    reader, writer = await asyncio.open_connection(*address)
    try:
        return await reader.read(100)
    finally:
        writer.close()


def test_a_client_whose_service_has_no_endpoint_that_answers_is_cut_off_at_once() -> None:
    async def run() -> bytes:
        proxy, address = Proxy(), free()
        await proxy.show({address: (free(), free())})
        with contextlib.closing(proxy):
            async with asyncio.timeout(2):
                return await first_bytes(address)

    with contextlib.suppress(ConnectionResetError):
        assert asyncio.run(run()) == b""


def test_open_connections_stay_when_the_endpoints_change_and_when_the_service_goes() -> None:
    async def run() -> list[bytes]:
        async with endpoint(echo) as one, endpoint(naming(b"two")) as two, asyncio.timeout(10):
            proxy, address = Proxy(), free()
            await proxy.show({address: (one,)})
            reader, writer = await asyncio.open_connection(*address)
            answers: list[bytes] = []
            for table in ({address: (two,)}, {}):
                await proxy.show(table)
                writer.write(b"still here")
                answers.append(await reader.readexactly(10))
                if table:
                    answers.append(await first_bytes(address))
            writer.close()
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection(*address)
            return answers

    assert asyncio.run(run()) == [b"still here", b"two", b"still here"]
