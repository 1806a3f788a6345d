"""A small HTTP server that answers as vLLM documents, with faults, for tests of what asks such a server.

Not vLLM, and not the simulator: it only lets a test choose how a server or a gateway misbehaves. Shapes: vLLM
``vllm/entrypoints/openai/protocol.py`` (completions, chat, ``ErrorResponse``); the gateway's answers: Envoy.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Behaviour:
    """How the server answers. ``prefix`` is the path it is reached under through the gateway."""

    prefix: str = "/models/qwen"
    names: tuple[str, ...] = ("qwen", "publishers/models/models/qwen")
    max_model_len: int = 2048
    seconds_a_token: float = 0.0005
    unhealthy: bool = False
    """The gateway has no healthy backend: 503 for everything."""
    holds_streams_back: bool = False
    """Something collects a streamed answer and hands it on at its end."""
    cuts_after: float | None = None
    """The gateway ends every answer after so many seconds."""
    answers_as: str | None = None
    """Another model answers."""
    plain_errors: bool = False
    """Errors are a line of text."""
    accepts_any_json: bool = False
    one_at_a_time: bool = False
    """A second request at the same time gets 429."""
    key: str = ""
    """A front door refuses requests without it: 401."""
    seen: list[dict[str, Any]] = field(default_factory=list)
    busy: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(1))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    behaviour: Behaviour

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def do_GET(self) -> None:
        if self._gateway_refuses():
            return
        path = self.path.removeprefix(self.behaviour.prefix)
        if path == "/health":
            self._send(200, b"", "text/plain")
        elif path == "/v1/models":
            cards = [
                {"id": name, "object": "model", "max_model_len": self.behaviour.max_model_len}
                for name in self.behaviour.names
            ]
            self._json(200, {"object": "list", "data": cards})
        else:
            self._error(404, "Not Found", "NotFoundError")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        if self._gateway_refuses():
            return
        try:
            body = json.loads(raw)
        except ValueError:
            if self.behaviour.accepts_any_json:
                self._json(200, {})
            else:
                self._error(400, "JSON decode error", "BadRequestError")
            return
        self.behaviour.seen.append(body)
        if body["model"] not in self.behaviour.names:
            self._error(404, f"The model `{body['model']}` does not exist.", "NotFoundError")
        elif self.behaviour.one_at_a_time and not self.behaviour.busy.acquire(blocking=False):
            self._send(429, b"inference pool resource exhausted", "text/plain")
        else:
            try:
                time.sleep(self.behaviour.seconds_a_token * 20 if self.behaviour.one_at_a_time else 0)
                self._complete(body)
            finally:
                if self.behaviour.one_at_a_time:
                    self.behaviour.busy.release()

    def _gateway_refuses(self) -> bool:
        if self.behaviour.unhealthy:
            self._send(503, b"no healthy upstream", "text/plain")
        elif self.behaviour.key and self.headers["authorization"] != f"Bearer {self.behaviour.key}":
            self._send(401, b"Client authentication failed.", "text/plain")
        elif not self.path.startswith(self.behaviour.prefix + "/"):
            self._send(404, b"fault filter abort", "text/plain")
        else:
            return False
        return True

    def _complete(self, body: dict[str, Any]) -> None:
        chat = self.path.endswith("/chat/completions")
        tokens = body["max_tokens"]
        model = self.behaviour.answers_as or body["model"]
        if body.get("stream"):
            self._stream(model, tokens, chat=chat)
            return
        time.sleep(tokens * self.behaviour.seconds_a_token)
        text = "word " * tokens
        choice = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        usage = {"prompt_tokens": 5, "completion_tokens": tokens, "total_tokens": tokens + 5}
        self._json(200, {"model": model, "choices": [{"index": 0, **choice}], "usage": usage})

    def _stream(self, model: str, tokens: int, *, chat: bool) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        started, held = time.monotonic(), b""
        for _ in range(tokens):
            time.sleep(self.behaviour.seconds_a_token)
            part = {"delta": {"content": "word "}} if chat else {"text": "word "}
            held += self._event(json.dumps({"model": model, "choices": [{"index": 0, **part}]}))
            if self.behaviour.cuts_after is not None and time.monotonic() - started > self.behaviour.cuts_after:
                self.close_connection = True
                return
            if not self.behaviour.holds_streams_back:
                try:
                    self.wfile.write(held)
                except OSError:  # the client has seen enough
                    self.close_connection = True
                    return
                held = b""
        try:
            self.wfile.write(held + self._event("[DONE]") + b"0\r\n\r\n")
        except OSError:
            self.close_connection = True

    @staticmethod
    def _event(data: str) -> bytes:
        line = f"data: {data}\n\n".encode()
        return f"{len(line):x}\r\n".encode() + line + b"\r\n"

    def _error(self, status: int, message: str, kind: str) -> None:
        if self.behaviour.plain_errors:
            self._send(status, message.encode(), "text/plain")
        else:
            self._json(status, {"error": {"message": message, "type": kind, "param": None, "code": status}})

    def _json(self, status: int, body: dict[str, Any]) -> None:
        self._send(status, json.dumps(body).encode(), "application/json")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def serving(behaviour: Behaviour) -> Generator[str]:
    """The URL of the model on a free port of the loopback; the server ends with the block."""
    handler = type("Bound", (Handler,), {"behaviour": behaviour})
    server = Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}{behaviour.prefix}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
