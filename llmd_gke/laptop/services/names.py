"""Names of Services and of pods behind headless ones, as the cluster's DNS answers them.

After https://github.com/kubernetes/dns/blob/master/docs/specification.md: ``SERVICE.NAMESPACE.svc.cluster.local`` is
the ClusterIP, or the endpoints of a headless Service, ``HOSTNAME.SERVICE.NAMESPACE.svc.cluster.local`` one of those.
Only A records; every other name does not exist, there is no network behind this one. The messages are RFC 1035's.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from collections.abc import Iterable, Mapping

from llmd_gke.laptop.fields import each, part, text, words
from llmd_gke.laptop.kube import Object
from llmd_gke.laptop.services.table import SERVICE_NAME

log = logging.getLogger(__name__)

ADDRESS = "10.96.0.10"
"""Where clusters made by kubeadm have theirs; the API server gives nobody an address this low by itself."""
PORT = 53
DOMAIN = "cluster.local"
SECONDS = 5
"""How long an answer may be kept; CoreDNS' own."""

A, IN = 1, 1
NO_ERROR, FORMAT_ERROR, NO_SUCH_NAME = 0, 1, 3
HEADER = struct.Struct("!6H")
RESPONSE, AUTHORITATIVE, WITH_RECURSION = 0x8000, 0x0400, 0x0100
POINTER_TO_QUESTION = 0xC000 | HEADER.size

Names = Mapping[str, tuple[str, ...]]


def names(services: Iterable[Object], slices: Iterable[Object]) -> dict[str, tuple[str, ...]]:
    """Full names, in lower case and without the last dot, and their addresses."""
    found: dict[str, set[str]] = {}
    headless: set[tuple[str, str]] = set()
    for service in services:
        name, namespace = str(service["metadata"]["name"]), str(service["metadata"]["namespace"])
        addresses = [ip for ip in words(service, "spec", "clusterIPs") if ":" not in ip]
        if addresses == ["None"]:
            headless.add((namespace, name))
            addresses = []
        found[f"{name}.{namespace}.svc.{DOMAIN}"] = set(addresses)
    for one in slices:
        meta = one["metadata"]
        key = (str(meta["namespace"]), text(meta, "labels", SERVICE_NAME))
        if key not in headless or text(one, "addressType") not in ("", "IPv4"):
            continue
        service_name = f"{key[1]}.{key[0]}.svc.{DOMAIN}"
        for endpoint in each(one, "endpoints"):
            if part(endpoint, "conditions").get("ready") is False:
                continue
            known = words(endpoint, "addresses")
            found[service_name].update(known)
            if host := text(endpoint, "hostname"):
                found.setdefault(f"{host}.{service_name}", set()).update(known)
    return {name.lower(): tuple(sorted(addresses)) for name, addresses in found.items()}


def answer(query: bytes, known: Names) -> bytes | None:
    """The answer to a query; ``None`` for what is none."""
    if len(query) < HEADER.size:
        return None
    number, flags, questions, *_ = HEADER.unpack_from(query)
    if flags & RESPONSE:
        return None
    said = RESPONSE | AUTHORITATIVE | flags & WITH_RECURSION
    try:
        if questions != 1:
            raise ValueError("one question at a time")
        name, end = _name(query)
        kind, of = struct.unpack_from("!2H", query, end)
    except (ValueError, struct.error, IndexError):
        return HEADER.pack(number, said | FORMAT_ERROR, 0, 0, 0, 0)
    question = query[HEADER.size : end + 4]
    if name not in known:
        return HEADER.pack(number, said | NO_SUCH_NAME, 1, 0, 0, 0) + question
    addresses = known[name] if (kind, of) == (A, IN) else ()
    records = [
        struct.pack("!3HIH", POINTER_TO_QUESTION, A, IN, SECONDS, 4) + socket.inet_aton(address)
        for address in addresses
    ]
    return HEADER.pack(number, said | NO_ERROR, 1, len(records), 0, 0) + question + b"".join(records)


def _name(query: bytes) -> tuple[str, int]:
    """The name that is asked for, and where it ends. Raises ``ValueError`` or ``IndexError``."""
    labels: list[str] = []
    at = HEADER.size
    while length := query[at]:
        if length > 63:
            raise ValueError("a question holds no pointers")
        labels.append(query[at + 1 : at + 1 + length].decode("ascii").lower())
        at += 1 + length
    return ".".join(labels), at + 1


class Resolver(asyncio.DatagramProtocol):
    """Answers by ``known``, which may be replaced at any time."""

    def __init__(self) -> None:
        self.known: Names = {}
        self._transport: asyncio.DatagramTransport | None = None

    async def open(self, address: str = ADDRESS, port: int = PORT) -> None:
        """Listens. Raises ``OSError`` when the address cannot be bound."""
        await asyncio.get_running_loop().create_datagram_endpoint(lambda: self, local_addr=(address, port))
        log.info("names are answered at %s:%d", address, port)

    def close(self) -> None:
        """Answers nobody any more."""
        if self._transport:
            self._transport.close()

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:
        """Of asyncio."""
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Of asyncio."""
        if self._transport and (told := answer(data, self.known)):
            self._transport.sendto(told, addr)
