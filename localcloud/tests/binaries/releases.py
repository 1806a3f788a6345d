"""A host of releases on loopback, for tests of downloads."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class Releases:
    """Its files by path, and the paths that were asked for. It is silent about the path of a file that is ``None``."""

    url: str
    files: dict[str, bytes | None] = field(default_factory=dict[str, bytes | None])
    asked: list[str] = field(default_factory=list[str])

    def publish(self, folder: str, listed: str, name: str, archive: bytes, *, like: str = "sha256 ") -> None:
        """Puts an archive and its list there. ``like``: the hash function, and what the list has before the name."""
        function, before = like.split(" ")
        digest = hashlib.new(function, archive).hexdigest()
        lines = f"{'0' * len(digest)}  {before}other.tar.gz\n{digest}  {before}{name}\n"
        self.files |= {f"{folder}/{name}": archive, f"{folder}/{listed}": lines.encode()}


@contextmanager
def serving() -> Generator[Releases]:
    """A host that runs within the block."""
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            pass

        def do_GET(self) -> None:
            host.asked.append(self.path)
            content = host.files.get(self.path, b"")
            if content is None:
                over.wait(20)
                return
            self.send_response(200 if content else 404)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    host = Releases(f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield host
    finally:
        over.set()
        server.shutdown()
        server.server_close()


def packed(files: Mapping[str, str]) -> bytes:
    """A compressed archive of programs: shell scripts by their path."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, script in files.items():
            content = f"#!/bin/sh\n{script}\n".encode()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content))
    return made.getvalue()


def program(file: Path, prints: str = "") -> Path:
    """An executable that prints something."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\necho {prints}\n")
    file.chmod(0o755)
    return file
