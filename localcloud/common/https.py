"""HTTP servers of stand-ins that answer each GET with one function, with or without TLS."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast

CLIENT_SECONDS = 30.0
"""The longest that a client may say nothing."""


@dataclass
class GetResponse:
    """What a server answers with."""

    status: int
    content: bytes
    content_type: str = "application/json"


Answer = Callable[[str, str, Mapping[str, str]], GetResponse]
"""The answer to a path and query, a client's address and its headers."""


def tls(certificate: Path) -> ssl.SSLContext:
    """The context of a server. ``certificate``: the path of certificate and key without ``.crt`` and ``.key``."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.with_suffix(".crt"), certificate.with_suffix(".key"))
    return context


def serve(
    address: tuple[str, int],
    answer: Answer,
    context: ssl.SSLContext | None = None,
    headers: Mapping[str, str] | None = None,
) -> ThreadingHTTPServer:
    """Listens and answers, in threads, until it is shut down. Raises ``OSError``.

    ``headers`` are sent with each answer.
    """

    class GetHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = CLIENT_SECONDS

        def setup(self) -> None:
            # Here, in the connection's own thread: a client that says nothing must not hold up others.
            if context:
                self.request = context.wrap_socket(self.request, server_side=True)
            super().setup()

        def do_GET(self) -> None:
            """Answers a request."""
            made = answer(self.path, str(self.client_address[0]), cast("Mapping[str, str]", self.headers))
            self.send_response(made.status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Type", made.content_type)
            self.send_header("Content-Length", str(len(made.content)))
            self.end_headers()
            self.wfile.write(made.content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Clients ask every few seconds."""

    server = ThreadingHTTPServer(address, GetHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
