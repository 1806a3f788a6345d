"""A server that stands in for what is not Google's: container registries and Hugging Face."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

MANIFEST = re.compile(r"/registry/[^/]+/v2/(?P<path>.+)/manifests/[^/]+")
ARCHIVE = re.compile(r"/registry/(?P<path>[^/]+/.+)\.tgz")
FILE = re.compile(r"/hf/(?P<name>[^/]+/[^/]+)/resolve/main/config.json")


class Elsewhere:
    """Everything is there but ``images_gone``. ``weights``: another status by repository, ``digest`` of every manifest.

    ``heard``: path and headers of each request.
    """

    def __init__(self) -> None:
        self.images_gone: set[str] = set()
        self.weights: dict[str, int] = {}
        self.digest: str | None = None
        self.heard: list[tuple[str, dict[str, str]]] = []

    def status(self, path: str) -> int:
        if match := MANIFEST.fullmatch(path):
            return 404 if match["path"] in self.images_gone else 200
        if match := ARCHIVE.fullmatch(path):
            return 404 if match["path"] in self.images_gone else 200
        if match := FILE.fullmatch(path):
            return self.weights.get(match["name"], 200)
        return 404


@contextmanager
def serving(elsewhere: Elsewhere) -> Generator[str]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            path = urlsplit(self.path).path
            elsewhere.heard.append((path, {name.lower(): value for name, value in self.headers.items()}))
            data = json.dumps({}).encode()
            self.send_response(elsewhere.status(path))
            self.send_header("content-type", "application/json")
            if elsewhere.digest and "/manifests/" in path:
                self.send_header("docker-content-digest", elsewhere.digest)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_HEAD = _serve  # noqa: N815 (names of the library)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's name)
            """Nothing on standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
