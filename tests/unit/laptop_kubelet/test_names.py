"""Names in the cluster. Queries are messages as resolvers send them; that glibc understands the answers is shown by
``tests/laptop``.
"""

from __future__ import annotations

import struct
from typing import Any

import pytest

from llmd_gke.laptop.services.names import answer, names

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
    said = answer(question, names(SERVICES, SLICES))
    assert said is not None
    number, flags, questions, count, *_ = struct.unpack_from("!6H", said)
    assert (number, flags & 0x8000, questions) == (7, 0x8000, 1)
    assert said[12 : len(question)] == question[12:], "the question comes back"
    records = [said[at : at + 16] for at in range(len(question), len(said), 16)]
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
    said = answer(query("web.models.svc.cluster.local")[:cut], {})
    assert said is not None
    assert said[:4] == struct.pack("!2H", 7, 0x8501)


def test_answers_are_not_answered() -> None:
    assert answer(b"", {}) is None
    assert answer(struct.pack("!6H", 7, 0x8180, 1, 0, 0, 0), {}) is None
