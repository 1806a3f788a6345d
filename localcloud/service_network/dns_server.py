"""Answers questions for names, by UDP and, where an answer is too long for that, by TCP (RFC 7766)."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from localcloud.service_network.dns_message import answer
from localcloud.service_network.dns_records import ADDRESS, Names

log = logging.getLogger(__name__)

PORT = 53
IDLE_SECONDS = 10.0
"""Seconds without a query after which a connection is closed."""


class Resolver(asyncio.DatagramProtocol):
    """Answers by ``records``, which may be replaced at any time."""

    def __init__(self) -> None:
        self.records: Names = {}
        self._transport: asyncio.DatagramTransport | None = None
        self._server: asyncio.Server | None = None

    async def open(self, address: str = ADDRESS, port: int = PORT) -> None:
        """Listens on UDP and TCP. Raises ``OSError`` if the address cannot be bound."""
        self._server = await asyncio.start_server(self._connection, address, port)
        await asyncio.get_running_loop().create_datagram_endpoint(lambda: self, local_addr=(address, port))
        log.info("names are answered at %s:%d", address, port)

    def close(self) -> None:
        """Stops listening on both."""
        if self._transport:
            self._transport.close()
        if self._server:
            self._server.close()

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:
        """Stores the UDP transport (called by asyncio)."""
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answers a query by UDP (called by asyncio)."""
        if self._transport and (reply := answer(data, self.records)):
            self._transport.sendto(reply, addr)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Questions one after the other, each with its length in front, until the client has no more."""
        with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            while True:
                async with asyncio.timeout(IDLE_SECONDS):
                    length = int.from_bytes(await reader.readexactly(2))
                    query = await reader.readexactly(length)
                if (reply := answer(query, self.records, tcp=True)) is None:
                    break
                writer.write(len(reply).to_bytes(2) + reply)
                await writer.drain()
        writer.close()
