"""Listens on ClusterIPs and forwards connections to endpoints in turn (round robin)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping

from localcloud.service_network.routing_table import Address

log = logging.getLogger(__name__)

CHUNK = 1 << 16
CONNECT_SECONDS = 3.0


class Listener:
    """One ClusterIP and port. ``endpoints`` may be changed at any time; open connections stay where they are."""

    def __init__(self, endpoints: tuple[Address, ...]) -> None:
        self.endpoints = endpoints
        self._turn = 0
        self._server: asyncio.Server | None = None

    async def open(self, address: Address) -> None:
        """Starts to listen. Raises ``OSError`` if the address cannot be bound."""
        self._server = await asyncio.start_server(self._carry, *address, limit=CHUNK)

    def close(self) -> None:
        """Stops listening; open connections remain."""
        if self._server:
            self._server.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there = await self._connect()
            if there is None:
                # A reset, like that of a refused connection: the client need not wait.
                writer.transport.abort()
                return
            await carry((reader, writer), there)
        except asyncio.CancelledError:
            writer.transport.abort()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        endpoints = self.endpoints
        for _ in endpoints:
            self._turn += 1
            chosen = endpoints[self._turn % len(endpoints)]
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(CONNECT_SECONDS):
                    return await asyncio.open_connection(*chosen, limit=CHUNK)
        return None


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def carry(one: Stream, other: Stream) -> None:
    """Copies data in both directions until both have ended; passes on the end of each direction."""
    try:
        await asyncio.gather(_pipe(one[0], other[1]), _pipe(other[0], one[1]))
    except OSError:
        for _, writer in (one, other):
            writer.transport.abort()
    finally:
        for _, writer in (one, other):
            writer.close()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(CHUNK):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


class Proxy:
    """Keeps the listeners in agreement with a routing table."""

    def __init__(self) -> None:
        self._listeners: dict[Address, Listener] = {}

    async def show(self, table: Mapping[Address, tuple[Address, ...]]) -> None:
        """Opens, changes and closes listeners. A port without endpoints is closed: connections are refused."""
        for address in set(self._listeners) - set(table):
            self._listeners.pop(address).close()
        for address, endpoints in table.items():
            if open_listener := self._listeners.get(address):
                open_listener.endpoints = endpoints
                continue
            listener = Listener(endpoints)
            try:
                await listener.open(address)
            except OSError as error:
                log.warning("%s:%d: %s", *address, error)
                continue
            self._listeners[address] = listener
            log.info("%s:%d leads to %s", *address, ", ".join(f"{host}:{port}" for host, port in endpoints))

    def close(self) -> None:
        """Closes all listeners."""
        for listener in self._listeners.values():
            listener.close()
        self._listeners.clear()
