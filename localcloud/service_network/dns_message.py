"""DNS messages: questions for A records, and their answers.

RFC 1035, with what RFC 6891 adds: a client says in its OPT record how large an answer by UDP may be.
"""

from __future__ import annotations

import socket
import struct

from localcloud.service_network.dns_records import Names

SECONDS = 5
"""How long an answer may be kept; CoreDNS' own."""

A, IN = 1, 1
NO_ERROR, FORMAT_ERROR, NO_SUCH_NAME = 0, 1, 3
HEADER = struct.Struct("!6H")
RESPONSE, AUTHORITATIVE, WITH_RECURSION = 0x8000, 0x0400, 0x0100
POINTER_TO_QUESTION = 0xC000 | HEADER.size
TRUNCATED = 0x0200
"""Not everything fitted; the client asks again by TCP."""
OPT = struct.Struct("!BHHIH")
"""An OPT record without options: the root's name, its type, the sender's UDP size, flags, no data."""
OPT_TYPE = 41

UDP_BYTES = 512
"""The longest answer by UDP to a client that names no size (RFC 1035, 4.2.1)."""
LONGEST_UDP_BYTES = 1232
"""The longest to any: no network of ours would break it into pieces (https://www.dnsflagday.net/2020/)."""
TCP_BYTES = 0xFFFF
"""What two octets of length allow (RFC 1035, 4.2.2)."""


def answer(query: bytes, known: Names, *, tcp: bool = False) -> bytes | None:
    """The answer to a query, as long as its way allows; ``None`` for what is no query."""
    if len(query) < HEADER.size:
        return None
    number, flags, questions, *others = HEADER.unpack_from(query)
    if flags & RESPONSE:
        return None
    said = RESPONSE | AUTHORITATIVE | flags & WITH_RECURSION
    try:
        if questions != 1:
            raise ValueError("one question at a time")
        name, end = _name(query)
        kind, of = struct.unpack_from("!2H", query, end)
        size = _client_size(query, end + 4) if others == [0, 0, 1] else None
    except (ValueError, struct.error, IndexError):
        return HEADER.pack(number, said | FORMAT_ERROR, 0, 0, 0, 0)
    question = query[HEADER.size : end + 4]
    extra = b"" if size is None else OPT.pack(0, OPT_TYPE, LONGEST_UDP_BYTES, 0, 0)
    said |= NO_ERROR if name in known else NO_SUCH_NAME
    addresses = known.get(name, ()) if (kind, of) == (A, IN) else ()
    records = [
        struct.pack("!3HIH", POINTER_TO_QUESTION, A, IN, SECONDS, 4) + socket.inet_aton(address)
        for address in addresses
    ]
    longest = TCP_BYTES if tcp else min(max(size or 0, UDP_BYTES), LONGEST_UDP_BYTES)
    room = longest - HEADER.size - len(question) - len(extra)
    if sum(map(len, records)) > room:
        said |= TRUNCATED
        records = records[: room // len(records[0])]
    head = HEADER.pack(number, said, 1, len(records), 0, 1 if extra else 0)
    return head + question + b"".join(records) + extra


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


def _client_size(query: bytes, at: int) -> int | None:
    """What the client takes by UDP, by its OPT record."""
    root, kind, size, *_ = OPT.unpack_from(query, at)
    return size if (root, kind) == (0, OPT_TYPE) else None
