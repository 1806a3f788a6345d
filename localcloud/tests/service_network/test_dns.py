"""Names in the cluster. Queries are messages as resolvers send them; that glibc understands the answers is shown by
``localcloud/tests/real_kubernetes``.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcloud.service_network.dns_message import answer
from localcloud.service_network.dns_records import names
from localcloud.service_network.dns_server import Resolver

SERVICES: list[dict[str, Any]] = [
    {"metadata": {"name": "web", "namespace": "models"}, "spec": {"clusterIPs": ["10.96.1.2"]}},
    {"metadata": {"name": "group", "namespace": "models"}, "spec": {"clusterIPs": ["None"]}},
    {"metadata": {"name": "outside", "namespace": "models"}, "spec": {}},
]


def slice_of(service: str, *endpoints: dict[str, Any]) -> dict[str, Any]:
    labels = {"kubernetes.io/service-name": service}
    meta = {"name": f"{service}-1", "namespace": "models", "labels": labels}
    return {"metadata": meta, "addressType": "IPv4", "endpoints": list(endpoints)}


SLICES = [
    slice_of("web", {"addresses": ["10.244.0.9"], "hostname": "web-0"}),
    slice_of(
        "group",
        {"addresses": ["10.244.0.3"], "hostname": "big-0", "conditions": {"ready": True}},
        {"addresses": ["10.244.0.4"], "hostname": "big-0-1"},
        {"addresses": ["10.244.0.5"], "hostname": "big-0-2", "conditions": {"ready": False}},
    ),
]


def query(name: str, kind: int = 1, number: int = 7) -> bytes:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return struct.pack("!6H", number, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!2H", kind, 1)


def asked(name: str, kind: int = 1) -> tuple[int, set[str]]:
    """Status of the answer, and its addresses."""
    question = query(name, kind)
    reply = answer(question, names(SERVICES, SLICES))
    assert reply is not None
    number, flags, questions, count, *_ = struct.unpack_from("!6H", reply)
    assert (number, flags & 0x8000, questions) == (7, 0x8000, 1)
    assert reply[12 : len(question)] == question[12:], "the question comes back"
    records = [reply[at : at + 16] for at in range(len(question), len(reply), 16)]
    assert len(records) == count
    assert all(record[:2] == b"\xc0\x0c" for record in records)
    return flags & 15, {".".join(map(str, record[12:])) for record in records}


@pytest.mark.parametrize(
    ("name", "addresses"),
    [
        ("web.models.svc.cluster.local", {"10.96.1.2"}),
        ("WEB.Models.svc.cluster.local", {"10.96.1.2"}),
        ("group.models.svc.cluster.local", {"10.244.0.3", "10.244.0.4"}),
        ("big-0.group.models.svc.cluster.local", {"10.244.0.3"}),
    ],
)
def test_services_and_pods_behind_headless_ones_have_names(name: str, addresses: set[str]) -> None:
    assert asked(name) == (0, addresses)


@pytest.mark.parametrize(
    "name",
    [
        "group.models",
        "group.other.svc.cluster.local",
        "big-0-2.group.models.svc.cluster.local",  # not ready
        "web-0.web.models.svc.cluster.local",  # only headless Services name their pods
        "example.com",
    ],
)
def test_every_other_name_does_not_exist(name: str) -> None:
    assert asked(name) == (3, set())


def test_a_name_that_exists_has_no_other_records_but_exists() -> None:
    assert asked("web.models.svc.cluster.local", kind=28) == (0, set())
    assert asked("outside.models.svc.cluster.local") == (0, set())


@pytest.mark.parametrize("cut", [12, 20, 30])
def test_a_query_that_is_cut_is_told_so(cut: int) -> None:
    reply = answer(query("web.models.svc.cluster.local")[:cut], {})
    assert reply is not None
    assert reply[:4] == struct.pack("!2H", 7, 0x8501)


@given(st.binary(max_size=80), st.integers(0, 15))
def test_whatever_comes_is_answered_in_form_or_not_at_all(rest: bytes, opcode: int) -> None:
    reply = answer(struct.pack("!6H", 7, opcode << 11, 1, 0, 0, 1) + rest, {})
    assert reply is not None
    assert struct.unpack_from("!2H", reply)[0] == 7
    assert reply[3] & 15 in (1, 3), "an error of form, or no such name"


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


def test_an_answer_that_fits_is_whole_and_answers_the_clients_opt_record() -> None:
    plain = query("web.models.svc.cluster.local")
    reply = answer(with_size(plain, 1232), names(SERVICES, SLICES))
    assert reply is not None
    assert struct.unpack_from("!6H", reply)[1:] == (0x8500, 1, 1, 0, 1)
    assert reply[-11:] == struct.pack("!BHHIH", 0, OPT_TYPE, 1232, 0, 0)


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
