"""A server that answers completions for one key only, as a front door does, and keeps what it was asked with."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager

EVENTS = tuple(
    json.dumps({"id": "1", "object": "text_completion", "model": "qwen", "choices": [{"index": 0, "text": word}]})
    for word in ("of", " the", " sea")
)


@contextmanager
def behind_key(key: str, identity: str = "") -> Generator[tuple[str, list[tuple[str, str]]]]:
    """Its URL, and the path and Authorization header of every request; any path but two is answered 404.

    With ``identity`` it also wants that token in Proxy-Authorization, as a gateway with IAP does.
    """
    asked: list[tuple[str, str]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer("/v1/models", json.dumps({"object": "list", "data": [{"id": "qwen"}]}), "application/json")

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            events = "".join(f"data: {event}\n\n" for event in (*EVENTS, "[DONE]"))
            self._answer("/v1/completions", events, "text/event-stream")

        def _answer(self, path: str, text: str, kind: str) -> None:
            given = self.headers.get("authorization", "")
            asked.append((self.path, given))
            wanted = {"authorization": key, "proxy-authorization": identity}
            allowed = all(self.headers.get(name, "") == f"Bearer {one}" for name, one in wanted.items() if one)
            status = 401 if not allowed else 200 if self.path == path else 404
            body = text.encode() if status == 200 else b""
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
