"""Answers that are too long, and queries that are none. ``real_kubernetes`` shows which names there are."""

from __future__ import annotations

import asyncio
import socket
import struct

import pytest

from localcloud.service_network.dns_message import answer
from localcloud.service_network.dns_server import Resolver


def query(name: str, kind: int = 1, number: int = 7) -> bytes:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return struct.pack("!6H", number, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!2H", kind, 1)


MANY = {"group.models.svc.cluster.local": tuple(f"10.244.{index // 250}.{index % 250}" for index in range(300))}
OPT_TYPE = 41


def with_size(question: bytes, size: int) -> bytes:
    """The query of a client that takes so much by UDP (RFC 6891)."""
    counts = question[:10] + struct.pack("!H", 1)
    return counts + question[12:] + struct.pack("!BHHIH", 0, OPT_TYPE, size, 0, 0)


@pytest.mark.parametrize(
    ("size", "longest"),
    [(None, 512), (512, 512), (100, 512), (1000, 1000), (4096, 1232)],
)
def test_an_answer_that_is_too_long_for_udp_says_so_and_holds_whole_records(size: int | None, longest: int) -> None:
    plain = query("group.models.svc.cluster.local")
    reply = answer(plain if size is None else with_size(plain, size), MANY)
    assert reply is not None
    _, flags, _, count, _, extra = struct.unpack_from("!6H", reply)
    assert flags & 0x0200, "truncated"
    assert longest - 16 < len(reply) <= longest
    assert extra == (0 if size is None else 1)
    assert len(reply) == len(plain) + 16 * count + 11 * extra


def test_the_whole_of_a_long_answer_comes_by_tcp() -> None:
    async def ask() -> list[bytes]:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        resolver = Resolver()
        resolver.records = MANY
        await resolver.open("127.0.0.1", port)
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            answers: list[bytes] = []
            for number in (1, 2):  # one connection may carry several
                question = query("group.models.svc.cluster.local", number=number)
                writer.write(len(question).to_bytes(2) + question)
                async with asyncio.timeout(10):
                    answers.append(await reader.readexactly(int.from_bytes(await reader.readexactly(2))))
            writer.close()
            return answers
        finally:
            resolver.close()

    answers = asyncio.run(ask())
    assert [struct.unpack_from("!6H", one) for one in answers] == [(n, 0x8500, 1, 300, 0, 0) for n in (1, 2)]
    result = {
        ".".join(map(str, answers[0][at + 12 : at + 16]))
        for at in range(len(answers[0]) - 300 * 16, len(answers[0]), 16)
    }
    assert result == set(MANY["group.models.svc.cluster.local"])
