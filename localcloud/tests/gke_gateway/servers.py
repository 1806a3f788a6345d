"""Model servers of the tests: plain HTTP servers on loopback addresses, one address for each pod."""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


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
    """Answers 200 with the headers of the request, a POST with the pieces of `events`. `health` is the status of
    /health for Envoy's health checks.
    """

    def __init__(self, address: str, port: int) -> None:
        self.address, self.port = address, port
        self.health = 200
        self.events: list[bytes] = []
        self.body = b""
        self.checked: list[str] = []
        self.streaming, self._ended = threading.Event(), threading.Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                owner.answer(self)

            def do_POST(self) -> None:
                owner.body = self.rfile.read(int(self.headers["content-length"]))
                self.send_response(200)
                self.send_header("content-type", "text/event-stream; charset=utf-8")
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                for piece in [*owner.events, b""]:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request: object, client_address: object) -> None:
                pass

        self._server = Server((address, port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        if request.headers.get("user-agent", "").startswith("Envoy/HC"):
            self.checked.append(request.path)
            return self._send(request, self.health if request.path == "/health" else 404, b"")
        if request.path == "/stream":
            request.send_response(200)
            request.send_header("content-length", "2")
            request.end_headers()
            request.wfile.write(b".")
            self.streaming.set()
            self._ended.wait()
            return None
        if request.path == "/slow":
            time.sleep(1.5)
        return self._send(request, 200, json.dumps({"headers": dict(request.headers)}).encode())

    def _send(self, request: BaseHTTPRequestHandler, status: int, body: bytes) -> None:
        request.send_response(status)
        request.send_header("content-length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def close(self) -> None:
        """Ends the server and its connections."""
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
