"""When a process of the cluster counts as ready, by what it answers."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from localcloud.cluster import pki
from localcloud.cluster.service import answers
from localcloud.common.layout import Layout


@contextmanager
def server(status: int, context: ssl.SSLContext | None = None) -> Generator[str]:
    """The URL of a server that answers everything with that status."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

    with HTTPServer(("127.0.0.1", 0), Answer) as listening:
        if context:
            listening.socket = context.wrap_socket(listening.socket, server_side=True)
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"{'https' if context else 'http'}://127.0.0.1:{listening.server_port}/readyz"
        finally:
            listening.shutdown()
            thread.join()


@pytest.mark.parametrize("status", [302, 403, 500])
def test_any_other_answer_is_not_ready_and_named(status: int) -> None:
    with server(status) as url:
        assert answers(url)() == f"{url} answers {status}"


def test_no_answer_is_not_ready_and_says_why() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    url = f"http://127.0.0.1:{port}/readyz"
    assert answers(url)().startswith(f"{url}: ")
    assert "refused" in answers(url)()


def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with server(200) as url:
        assert answers(url)() == ""


def test_a_server_is_trusted_by_the_authority_of_its_cluster_only(tmp_path: Path) -> None:
    own, other = Layout(tmp_path / "own"), Layout(tmp_path / "other")
    for layout in (own, other):
        pki.prepare(layout)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(own.pki / "apiserver.crt", own.pki / "apiserver.key")
    with server(200, context) as url:
        assert answers(url, own.authority)() == ""
        assert "CERTIFICATE_VERIFY_FAILED" in answers(url, other.authority)()
