"""The HTTP server: checks requests by the discovery documents, and has them answered by a service."""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit

import localcloud.google_api.services  # noqa: F401  # pyright: ignore[reportUnusedImport] - registers what answers
from localcloud.google_api.core import discovery
from localcloud.google_api.core.cloud import EmulatedCloud
from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.core.request import BACKGROUND, HANDLERS, Request
from localcloud.google_api.rules import projects
from localcloud.providers.protocol.values import JsonObject, JsonValue, number, text

TOKEN_INFO = "/oauth2.googleapis.com/tokeninfo"  # noqa: S105 - a path
"""Path that returns the owner of an access token (https://developers.google.com/identity/sign-in/web/backend-auth)."""
OWNER = "somebody@example.com"


class Dropped(Exception):
    """Raised to close a connection without an answer, as if it were lost."""


class Emulator:
    """Answers requests. Thread-safe: one at a time."""

    def __init__(self, cloud: EmulatedCloud) -> None:
        self.cloud = cloud

    def answer(
        self,
        http: str,
        path: str,
        query: dict[str, str],
        body: JsonObject,
        *,
        token: str = "emulator",  # noqa: S107 - any token will do
    ) -> tuple[int, JsonObject]:
        """Status and body. ``path`` begins with the API's host: ``compute.googleapis.com/compute/v1/projects/…``.

        Raises :class:`Dropped` if a fault requires it.
        """
        host, _, rest = path.lstrip("/").partition("/")
        if host == "dns":  # upstream's client for records loses the host (transport.Config NewDnsClient, "/dns/")
            host, rest = "dns.googleapis.com", f"dns/{rest}"
        with self.cloud.opened():
            name = ""
            try:
                self.cloud.advance()
                for work in BACKGROUND:
                    work(self.cloud)
                request = self._judged(host, http, rest, query=query, body=body, token=token)
                name = request.method.id
                answer = self._answered(request)
                # Cloud Storage sends an empty body if there is no content.
                status = 204 if host.startswith("storage.") and http == "DELETE" else 200
            except ApiError as error:
                status, answer = error.code, error.body
            seen: JsonObject = {"time": time.time(), "method": name, "http": http, "path": path, "body": body}
            self.cloud.requests.append(
                {**seen, "status": status, "error": answer.get("error") if status >= 300 else None}
            )
            dropped = name and status < 300 and self.cloud.faults.strike("drop", name, path)
        if dropped:  # outside of the block, which keeps what was made
            raise Dropped(path)
        return status, answer

    def owner(self, token: str) -> tuple[int, JsonObject]:
        """The owner of a token, from the fault ``identities`` (address by token, ``""`` for an invalid token)."""
        with self.cloud.opened():
            given = self.cloud.faults.conditions.value("identities", token)
            self.cloud.requests.append({"time": time.time(), "method": "tokeninfo", "http": "POST", "path": TOKEN_INFO})
        email = given if isinstance(given, str) else OWNER
        if not email:
            return 400, {"error_description": "Invalid Value"}
        return 200, {"email": email, "email_verified": "true"}

    def _judged(
        self, host: str, http: str, path: str, *, query: dict[str, str], body: JsonObject, token: str
    ) -> Request:
        match = discovery.find(host, http, path)
        if match is None:
            raise ApiError(404, f"{http} https://{host}/{path}: no such method in Google's discovery documents")
        method, at = match
        faults = self.cloud.faults
        if not token or faults.strike("expired-token", method.id, path):
            raise ApiError(
                401,
                "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other "
                "valid authentication credential.",
            )
        if struck := faults.strike("error", method.id, path):
            code = number(struck, "code") or 503
            raise ApiError(code, text(struck, "message") or "backend error", text(struck, "reason"))
        query = {discovery.parameter(method, name): value for name, value in query.items()}
        if unknown := sorted(query.keys() - method.parameters):
            raise ApiError(
                400, f'Invalid JSON payload received. Unknown name "{unknown[0]}": Cannot bind query parameter.'
            )
        wrong = list(discovery.problems(method.document, method.request, body)) if method.request else []
        if wrong:
            raise ApiError(400, "\n".join(wrong))
        request = Request(cloud=self.cloud, method=method, path=path, host=host, at=at, query=query, body=body)
        if request.project:
            with self.cloud.state() as cloud_state:
                projects.require(cloud_state, request.project, host)
        return request

    @staticmethod
    def _answered(request: Request) -> JsonObject:
        handler = HANDLERS.get(request.method.id)
        if handler is None:
            raise ApiError(
                501,
                f"{request.method.id} exists in Google's API, but the emulator does not imitate it. To add it: a "
                "function in "
                "localcloud/google_api/services",
            )
        answer = handler(request)
        if wrong := list(discovery.problems(request.method.document, request.method.response, answer)):
            raise AssertionError(f"the emulator's own answer to {request.method.id} is wrong: {'; '.join(wrong)}")
        return answer


def contents(cloud: EmulatedCloud) -> JsonObject:
    """Everything that an emulator keeps, after it was read (``cloud.look()``)."""
    return {
        "faults": cloud.faults.shown(),
        "resources": cast("JsonValue", cloud.resources),
        "operations": [_shown(cloud, name) for name in cloud.operations],
        "requests": list[JsonValue](cloud.requests.last()),
    }


def _shown(cloud: EmulatedCloud, name: str) -> JsonValue:
    status, progress, failure = cloud.progress(name)
    operation = cloud.operations[name]
    return {**{key: operation[key] for key in ("type", "target")}, "name": name, "status": status} | {
        "progress": progress,
        "failure": failure,
    }


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores connections that a killed client closes."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    emulator: Emulator

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Requests are kept by the cloud, not printed."""

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if parts.path == TOKEN_INFO:  # no discovery document has it, and its body is a form
            self._send(*self.emulator.owner(dict(parse_qsl(raw.decode())).get("access_token", "")))
            return
        try:
            body: object = json.loads(raw) if raw else {}
        except json.JSONDecodeError:
            body = None
        if not isinstance(body, dict):
            self._send(400, ApiError(400, "Invalid JSON payload received.").body)
            return
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        try:
            status, answer = self.emulator.answer(
                self.command, _path(parts.path), _query(parts.query), cast("JsonObject", body), token=token
            )
        except Dropped:
            self.close_connection = True
            return
        except Exception as error:
            # Not 500, which clients repeat for minutes.
            status, answer = 501, ApiError(501, f"the emulator failed: {error!r}").body
        self._send(status, answer)

    def _send(self, status: int, answer: JsonObject) -> None:
        content = b"" if status == 204 else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - the base class's names


def _path(raw: str) -> str:
    """The path unescaped, except slashes within a segment."""
    return "%2F".join(unquote(part) for part in re.split("%2F", raw, flags=re.IGNORECASE))


def _query(raw: str) -> dict[str, str]:
    """Parameters; the values of one that is given several times are separated by commas."""
    parameters: dict[str, list[str]] = {}
    for key, value in parse_qsl(raw):
        parameters.setdefault(key, []).append(value)
    return {key: ",".join(values) for key, values in parameters.items()}


@contextmanager
def running(
    folder: Path,
    listener: socket.socket | None = None,
    make: Callable[[EmulatedCloud], Emulator] = lambda cloud: Emulator(cloud),
) -> Generator[EmulatedCloud]:
    """The emulator at a socket that listens (default: any port of loopback), with what lies in that folder.

    Its address is ``cloud.url``. ``make`` is for another kind of emulator.
    """
    cloud = EmulatedCloud(folder)

    class Handler(_Handler):
        emulator = make(cloud)

    server = _Server(("127.0.0.1", 0), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener or socket.create_server(("127.0.0.1", 0))
    cloud.url = f"http://127.0.0.1:{server.socket.getsockname()[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield cloud
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
