"""A stand-in for Prometheus' query API: it answers expressions with series that a test gives, and evaluates nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

Labels = Mapping[str, str]
Values = Callable[[float], float | None]
"""The value at a time; ``None`` where the series has none."""


@dataclass
class StandIn:
    """``series``: what each expression returns. ``status`` and ``body`` answer in place of everything where they are
    set. ``asked``: path, parameters and ``Authorization`` of every request.
    """

    series: dict[str, Sequence[tuple[Labels, Values]]] = field(default_factory=dict[str, Any])
    status: int = 200
    body: str | None = None
    asked: list[tuple[str, dict[str, str], str | None]] = field(default_factory=list[Any])

    def answer(self, what: str, form: Mapping[str, str]) -> dict[str, Any]:
        """What Prometheus would write."""
        series = self.series.get(form["query"], ())
        if what == "query":
            at = float(form["time"])
            now = [(labels, values(at)) for labels, values in series]
            vector = [{"metric": dict(labels), "value": [at, str(value)]} for labels, value in now if value is not None]
            return {"resultType": "vector", "result": vector}
        start, end, step = (float(form[key]) for key in ("start", "end", "step"))
        times = [start + index * step for index in range(int((end - start) / step + 1e-6) + 1)]
        matrix: list[dict[str, Any]] = []
        for labels, values in series:
            points = [[one, str(value)] for one, value in ((one, values(one)) for one in times) if value is not None]
            if points:
                matrix.append({"metric": dict(labels), "values": points})
        return {"resultType": "matrix", "result": matrix}


@contextmanager
def serving(stand_in: StandIn) -> Generator[str]:
    """Serves it on loopback and gives its address, without a path."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {key: values[0] for key, values in parse_qs(text).items()}
            stand_in.asked.append((self.path, form, self.headers.get("Authorization")))
            body = stand_in.body
            if body is None:
                body = json.dumps({"status": "success", "data": stand_in.answer(self.path.rsplit("/", 1)[-1], form)})
            self.send_response(stand_in.status)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as in the base
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
