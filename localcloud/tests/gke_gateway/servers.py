"""Model servers of the tests: plain HTTP servers on loopback addresses, one address for each pod."""

from __future__ import annotations

import json
import random
import socket
import ssl
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def free_port() -> int:
    """A port on which nobody listens, below those that Linux gives to connections: it stays free until it is used."""
    for port in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("a hundred ports are in use")


class ModelServer:
    """Answers 200 with what it was asked. `health` is the status of /health, everything at `/` alone is 404."""

    def __init__(self, address: str, port: int, certificate: tuple[Path, Path] | None = None) -> None:
        self.address, self.port = address, port
        self.health = 200
        self.asked: list[str] = []
        self.checked: list[str] = []
        self.fails_before_the_answer = False
        self.answers_with: dict[str, str] = {}
        """More headers of each answer."""
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                owner.answer(self)

            do_POST = do_GET  # noqa: N815 - the name that http.server asks for

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request: object, client_address: object) -> None:
                pass

        self._server = Server((address, port), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        body = _body(request)
        path = request.path.split("?")[0]
        if request.headers.get("user-agent", "").startswith("Envoy/HC"):
            self.checked.append(request.path)
            return self._send(request, self.health if path == "/health" else 404, b"")
        self.asked.append(request.path)
        if self.fails_before_the_answer:
            # A reset, as of a process that is killed.
            request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request.close_connection = True
            request.connection.close()
            return None
        if path == "/slow":
            time.sleep(1.5)
        if path == "/stream":
            return self._stream(request)
        reply = {"path": request.path, "pod": self.address, "bytes": len(body), "headers": dict(request.headers)}
        return self._send(request, 404 if path == "/" else 200, json.dumps(reply).encode())

    def _send(self, request: BaseHTTPRequestHandler, status: int, body: bytes) -> None:
        request.send_response(status)
        request.send_header("content-length", str(len(body)))
        for name, value in self.answers_with.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    def _stream(self, request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("transfer-encoding", "chunked")
        request.end_headers()
        for index in range(4):
            piece = f"data: {index}\n\n".encode()
            request.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            request.wfile.flush()
            time.sleep(0.2)
        request.wfile.write(b"0\r\n\r\n")

    def close(self) -> None:
        """Ends the server and its connections."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _body(request: BaseHTTPRequestHandler) -> bytes:
    if request.headers.get("transfer-encoding") != "chunked":
        return request.rfile.read(int(request.headers.get("content-length") or 0))
    body = b""
    while size := int(request.rfile.readline(), 16):
        body += request.rfile.read(size)
        request.rfile.readline()
    request.rfile.readline()
    return body
