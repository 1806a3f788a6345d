"""Answers questions for names, by UDP only: an answer that is too long for it is cut."""

from __future__ import annotations

import asyncio
import logging

from localcloud.service_network.dns_message import answer
from localcloud.service_network.dns_records import ADDRESS, Names

log = logging.getLogger(__name__)

PORT = 53


class Resolver(asyncio.DatagramProtocol):
    """Answers by ``records``, which may be replaced at any time."""

    def __init__(self) -> None:
        self.records: Names = {}
        self._transport: asyncio.DatagramTransport | None = None

    async def open(self, address: str = ADDRESS, port: int = PORT) -> None:
        """Starts to listen. Raises ``OSError`` if the address cannot be bound."""
        await asyncio.get_running_loop().create_datagram_endpoint(lambda: self, local_addr=(address, port))
        log.info("names are answered at %s:%d", address, port)

    def close(self) -> None:
        """Stops listening."""
        if self._transport:
            self._transport.close()

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:
        """Stores the transport (called by asyncio)."""
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answers a query (called by asyncio)."""
        if self._transport and (reply := answer(data, self.records)):
            self._transport.sendto(reply, addr)
