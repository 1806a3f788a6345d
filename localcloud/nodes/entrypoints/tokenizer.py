#!/opt/bin/python3
"""The endpoint picker's tokenizer in the laptop cloud: answers health checks, and tokenizes nothing."""

from __future__ import annotations

import http.server
import os
import signal
import sys


class Health(http.server.BaseHTTPRequestHandler):
    """Answers every GET with 200."""

    def do_GET(self) -> None:
        """Answers probes with 200."""
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Logs nothing: every request is a probe."""


def end(number: int, frame: object) -> None:
    """Exits, as a handler of signals."""
    del number, frame
    sys.exit(0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, end)
    port = int(os.environ.get("PROBE_PORT") or 8082)
    print(f"laptop cloud: no tokenizer, only its health endpoint on port {port}", flush=True)
    http.server.HTTPServer(("", port), Health).serve_forever()
