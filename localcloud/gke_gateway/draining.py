"""The end of connection draining: what still runs to a removed endpoint after its policy's time is cut off.

Envoy has no such limit. The kernel ends the connections instead (``SOCK_DESTROY``, ``linux/sock_diag.h``), by the right
that the daemon has in its network namespace; a kernel built without ``CONFIG_INET_DIAG_DESTROY`` lets them run.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from localcloud.gke_gateway.resources.endpoints import PodEndpoint

log = logging.getLogger(__name__)

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY, SOCK_DESTROY = 20, 21
REQUEST, ACKNOWLEDGE, DUMP = 0x1, 0x4, 0x300
ERROR, DONE = 2, 3
HEADER = struct.Struct("=IHHII")
QUESTION = struct.Struct("=BBBxI")
ESTABLISHED = 1 << 1
PORTS_AND_ADDRESSES = struct.Struct("!HH16s16s")
ID_BYTES = PORTS_AND_ADDRESSES.size + 12
"""An ``inet_diag_sockid``: with the interface and a cookie."""
LONGEST_ANSWER = 65536


@dataclass
class Draining:
    """Cuts connections to endpoints that have been gone for as long as their policy drains them."""

    _present: Mapping[PodEndpoint, int] = field(default_factory=dict[PodEndpoint, int])
    _ending: dict[PodEndpoint, asyncio.TimerHandle] = field(default_factory=dict[PodEndpoint, asyncio.TimerHandle])

    def follow(self, present: Mapping[PodEndpoint, int]) -> None:
        """Takes the endpoints that there are now, each with the seconds for which it is drained when it goes."""
        for endpoint in self._ending.keys() & present.keys():
            self._ending.pop(endpoint).cancel()
        loop = asyncio.get_running_loop()
        for endpoint in self._present.keys() - present.keys():
            self._ending[endpoint] = loop.call_later(self._present[endpoint], self._cut, endpoint)
        self._present = dict(present)

    def _cut(self, endpoint: PodEndpoint) -> None:
        del self._ending[endpoint]
        try:
            ended = end_connections(endpoint)
        except OSError as error:
            log.warning("connections to %s are not cut after draining: %s", endpoint.address, error)
            return
        if ended:
            log.info("draining of %s is over: %d connections cut", endpoint.address, ended)


def end_connections(endpoint: PodEndpoint) -> int:
    """Ends all connections of this network namespace to an endpoint (IPv4); returns how many. Raises ``OSError``."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as kernel:
        found = [one for one in _connections(kernel) if _leads_to(one, endpoint)]
        for one in found:
            _ask(kernel, SOCK_DESTROY, REQUEST | ACKNOWLEDGE, 0, one)
            for _ in _answers(kernel):
                pass
    return len(found)


def _connections(kernel: socket.socket) -> Iterator[bytes]:
    _ask(kernel, SOCK_DIAG_BY_FAMILY, REQUEST | DUMP, ESTABLISHED, bytes(ID_BYTES))
    yield from (body[4 : 4 + ID_BYTES] for body in _answers(kernel))


def _leads_to(connection: bytes, endpoint: PodEndpoint) -> bool:
    _, port, _, address = PORTS_AND_ADDRESSES.unpack_from(connection)
    return port == endpoint.port and socket.inet_ntoa(address[:4]) == endpoint.address


def _ask(kernel: socket.socket, kind: int, flags: int, states: int, connection: bytes) -> None:
    body = QUESTION.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, states) + connection
    kernel.send(HEADER.pack(HEADER.size + len(body), kind, flags, 1, 0) + body)


def _answers(kernel: socket.socket) -> Iterator[bytes]:
    while True:
        data = kernel.recv(LONGEST_ANSWER)
        while data:
            length, kind, _, _, _ = HEADER.unpack_from(data)
            body, data = data[HEADER.size : length], data[(length + 3) & ~3 :]
            if kind == DONE:
                return
            if kind == ERROR:
                (code,) = struct.unpack_from("=i", body)
                if code:
                    raise OSError(-code, "sock_diag")
                return
            yield body
