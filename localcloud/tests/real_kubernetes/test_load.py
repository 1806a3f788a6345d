"""Many, large, broken and abandoned requests."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.serving import Served, chat, completion

LARGE = 10_000_000

MALFORMED = """
import socket, sys
end = b"\\r\\n\\r\\n"
broken = [b"nonsense" + end, b"GET /v1/models HTTP/9.9" + end, b"POST / HTTP/1.1\\r\\ncontent-length: -1" + end]
broken += [b"GET / HTTP/1.1\\r\\nhost: a\\r\\nx: " + b"y" * 200_000 + end, b"\\x16\\x03\\x01\\x00\\x00"]
for one in broken:
    with socket.create_connection((sys.argv[1], 80), 10) as connection:
        connection.sendall(one)
        print(connection.recv(12).decode(errors="replace"))
"""
"""Prints the beginning of what the load balancer says to each of five requests that are none."""


@pytest.fixture(scope="module")
def served(bare: Laptop) -> Iterator[Served]:
    made = Served(bare, "load", simulator="--inter-token-latency 20ms")
    made.start()
    made.await_answers()
    until(lambda: made.ask(chat("hello"))[0]["status"] == 200, "an answer of the pool")
    yield made
    made.remove()


def test_bodies_of_ten_megabytes_reach_the_server(served: Served) -> None:
    large = [{**completion("", max_tokens=1), "size": LARGE} for _ in range(5)]
    answers = served.ask(*large, at_once=5, seconds=300)
    # Longer than the context: the server's own answer, so it has read all of it.
    assert {answer["status"] for answer in answers} <= {200, 400}, [answer["status"] for answer in answers]
    assert all("context" in answer["text"] or answer["status"] == 200 for answer in answers)
    until(lambda: [entry for entry in served.log() if entry["received"] >= LARGE][4:], "five large bodies in the log")


def test_malformed_requests_are_refused_and_harm_nobody(served: Served) -> None:
    lines = served.laptop.python(MALFORMED, served.address).stdout.split("\n")
    assert [line for line in lines if line and not line.startswith(("HTTP/1.1 4", "HTTP/1.0 4"))] == []
    broken = {"path": "/v1/chat/completions", "method": "POST", "headers": {"x-note": "no body"}}
    assert 400 <= served.ask(broken)[0]["status"] < 500
    assert json.loads(served.ask({"path": "/v1/models"})[0]["text"])["data"]
