"""Listens on ClusterIPs and forwards connections to endpoints in turn (round robin).

kube-proxy rewrites addresses in the kernel, which needs rules that a process without root cannot rely on. Here every
message of a connection passes this process, so it does as little as possible with it: what one socket receives is sent
to the other at once, without a task or a stream in between.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import cast

from localcloud.service_network.routing_table import Address

log = logging.getLogger(__name__)

CONNECT_SECONDS = 3.0


class Side(asyncio.Protocol):
    """One of the two sockets of a forwarded connection, which is not read until it has its ``other``. ``accepted`` is
    called with one that a client opened.
    """

    def __init__(self, accepted: Callable[[Side], None] | None = None) -> None:
        self._accepted = accepted
        self._ended = False
        self.other: Side | None = None
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps the socket."""
        self.transport = cast("asyncio.Transport", transport)
        self.transport.pause_reading()
        if self._accepted:
            self._accepted(self)

    def joined(self, other: Side) -> None:
        """Forwards from now on, in both directions."""
        self.other, other.other = other, self
        self.transport.resume_reading()
        other.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        """Passes data on."""
        if self.other:
            self.other.transport.write(data)

    def eof_received(self) -> bool:
        """Passes the end of this direction on; the other direction stays open until it has ended, too."""
        self._ended = True
        if self.other is None:
            return False
        if self.other._ended:
            self.other.transport.close()
            return False
        self.other.transport.write_eof()
        return True

    def pause_writing(self) -> None:
        """Stops reading from the other side while this one accepts nothing: memory stays bounded."""
        if self.other:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        """Reads from the other side again."""
        if self.other:
            self.other.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Closes the other side; after an error it is reset, like this one."""
        if self.other is None:
            return
        if exc:
            self.other.transport.abort()
        else:
            self.other.transport.close()


class Listener:
    """One ClusterIP and port. ``endpoints`` may be changed at any time; open connections stay where they are."""

    def __init__(self, endpoints: tuple[Address, ...]) -> None:
        self.endpoints = endpoints
        self._turn = 0
        self._server: asyncio.Server | None = None
        self._connecting: set[asyncio.Task[None]] = set()

    async def open(self, address: Address) -> None:
        """Starts to listen. Raises ``OSError`` if the address cannot be bound."""
        self._server = await asyncio.get_running_loop().create_server(lambda: Side(self._accept), *address)

    def close(self) -> None:
        """Stops listening; open connections remain."""
        if self._server:
            self._server.close()

    def _accept(self, side: Side) -> None:
        task = asyncio.get_running_loop().create_task(self._connect(side))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    async def _connect(self, side: Side) -> None:
        loop, endpoints = asyncio.get_running_loop(), self.endpoints
        try:
            for _ in endpoints:
                self._turn += 1
                chosen = endpoints[self._turn % len(endpoints)]
                with contextlib.suppress(OSError, TimeoutError):
                    async with asyncio.timeout(CONNECT_SECONDS):
                        _, there = await loop.create_connection(Side, *chosen)
                    side.joined(there)
                    return
        except asyncio.CancelledError:
            side.transport.abort()
            raise
        # A reset, like that of a refused connection: the client need not wait.
        side.transport.abort()


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
