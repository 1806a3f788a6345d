"""The container that keeps a pod from being ready before its first completion, run for real."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from llmd_gke.manifests import server_pod
from tests.waiting import eventually


class Server(HTTPServer):
    """Answers completions with ``status`` and remembers their bodies."""

    status = 503

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.asked: list[object] = []


class Answer(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        server.asked.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
        self.send_response(server.status)
        self.end_headers()

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it overrides
        del format, args


@pytest.fixture
def server() -> Iterator[Server]:
    with serving_thread(Server()) as running:
        yield running


@contextmanager
def serving_thread(server: Server) -> Generator[Server]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def warm_up(port: int, mark: Path) -> Generator[subprocess.Popen[str]]:
    # Two seconds between questions are right for a pod, not for a test.
    text = server_pod.WARM_UP.read_text().replace("PAUSE_SECONDS = 2", "PAUSE_SECONDS = 0.02")
    process = subprocess.Popen(
        [sys.executable, "-c", text, str(port), "qwen", str(mark)], stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_pod_is_warm_after_its_first_completion_and_not_before(server: Server, tmp_path: Path) -> None:
    mark = tmp_path / "warm"
    with warm_up(server.server_port, mark) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "first completion: 503\n"
        assert not mark.exists()
        server.status = 200
        eventually(mark.exists)
        assert process.stdout.readline() == "first completion: 200\n"
    assert server.asked[0] == ("/v1/completions", {"model": "qwen", "prompt": "1", "max_tokens": 1})


def test_a_server_that_is_gone_takes_the_mark_with_it(tmp_path: Path) -> None:
    mark = tmp_path / "warm"
    server = Server()
    server.status = 200
    with serving_thread(server) as running:
        watching = warm_up(running.server_port, mark)
        with watching:
            eventually(mark.exists)
            running.shutdown()
            running.server_close()
            eventually(lambda: not mark.exists())
        assert not mark.exists()


def test_a_mark_of_an_earlier_run_does_not_count(server: Server, tmp_path: Path) -> None:
    mark = tmp_path / "warm"
    mark.touch()
    with warm_up(server.server_port, mark):
        eventually(lambda: not mark.exists())


def test_it_ends_when_it_is_told_to(server: Server, tmp_path: Path) -> None:
    with warm_up(server.server_port, tmp_path / "warm") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        assert process.wait(timeout=20) == 0


def test_its_text_is_no_template_to_kserve() -> None:
    assert "{{" not in server_pod.WARM_UP.read_text()
