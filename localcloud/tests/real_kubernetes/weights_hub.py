"""A stand-in for Hugging Face with one gated repository: runs in a pod, with Python's standard library only.

It answers what ``huggingface_hub`` 0.32 asks for, and prints each download. The first download of the large file stops
at ``STOP`` and never ends, as if the network had gone.
"""

import http.server
import json
import os
import re
import threading

COMMIT = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"
REPOSITORY = "owner/gated"
MEGABYTE = 1 << 20
STOP = 22 * MEGABYTE
"""``huggingface_hub`` writes pieces of 10 MB: two of them are in the folder by then."""

FILES = {
    "config.json": b'{"architectures": []}\n',
    "model-00001-of-00002.safetensors": b"small" * 1000,
    "model-00002-of-00002.safetensors": b"0123456789abcdef" * (24 * MEGABYTE // 16),
}


class Hub(http.server.BaseHTTPRequestHandler):
    """One request."""

    stopped = threading.Event()
    never = threading.Event()
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        """Size and hash of a file."""
        self._file(body=False)

    def do_GET(self) -> None:
        """The list of files, or one of them."""
        if self.path.startswith(f"/api/models/{REPOSITORY}"):
            files = [{"rfilename": name} for name in FILES]
            self._send(200, json.dumps({"id": REPOSITORY, "sha": COMMIT, "siblings": files}).encode(), {})
        else:
            self._file(body=True)

    def _file(self, *, body: bool) -> None:
        if self.headers.get("Authorization") != f"Bearer {os.environ['TOKEN']}":
            self._send(401, b"", {"X-Error-Code": "GatedRepo"})
            return
        content = FILES[self.path.rpartition("/")[2]]
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        begin = int(asked[1]) if asked else 0
        headers = {"ETag": f'"{len(content):040x}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        if asked:
            headers["Content-Range"] = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        if not body:
            self._send(200, content, headers, written=0)
            return
        print("download", self.path.rpartition("/")[2], begin, flush=True)
        if len(content) > STOP and not self.stopped.is_set():
            self.stopped.set()
            self._send(200, content, headers, written=STOP)
            self.never.wait()
        self._send(206 if asked else 200, content[begin:], headers)

    def _send(self, status: int, content: bytes, headers: dict[str, str], written: int | None = None) -> None:
        """Announces all of the content, and writes so many bytes of it (default: all)."""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content[:written])
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        """Prints nothing: what is printed is what was downloaded."""


if __name__ == "__main__":
    http.server.ThreadingHTTPServer(("", 8000), Hub).serve_forever()
