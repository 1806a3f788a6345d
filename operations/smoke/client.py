"""Requests to an OpenAI-compatible server, with the moments at which the parts of an answer arrived."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urlsplit

import httpx

from llmd_common.kubernetes.fields import Object, each, part, text
from operations.outputs import Endpoint

MOST_TEXT = 400
"""Number of characters of an answer that are kept for a message."""


@dataclass(frozen=True)
class HttpAnswer:
    """A complete answer. ``body`` is its JSON, ``None`` if it is not a JSON object."""

    status: int
    text: str
    seconds: float

    @property
    def body(self) -> Mapping[str, object] | None:
        """The JSON object, or ``None``."""
        try:
            content: object = json.loads(self.text)
        except ValueError:
            return None
        return cast("Mapping[str, object]", content) if isinstance(content, dict) else None


@dataclass
class Stream:
    """A streamed answer. ``arrivals``: seconds from the request to each chunk with text."""

    status: int = 0
    content_type: str = ""
    arrivals: list[float] = field(default_factory=list[float])
    seconds: float = 0.0
    finished: bool = False
    """Whether the server sent ``[DONE]``."""
    stopped: bool = False
    """Whether the client stopped reading because it had received enough."""
    text: str = ""
    """The body of an answer that is not a stream, or the error that the server reported inside the stream."""
    broken: str = ""
    """The error by which the connection ended; empty if it ended normally."""


@dataclass(frozen=True)
class Options:
    """``together``: concurrent requests. ``long_tokens``: length of the long answer (default: the model's maximum)."""

    together: int = 8
    long_tokens: int | None = None


def advertised_name(endpoint: Endpoint) -> str:
    """The second name of a model: ``publishers/NAMESPACE/models/NAME``; empty if its namespace is unknown.

    KServe writes it to ``status.addresses`` (``pkg/controller/v1alpha2/llmisvc``), and our servers serve both.
    """
    if endpoint.namespace:
        return f"publishers/{endpoint.namespace}/models/{endpoint.served_model_name}"
    parts = [part for part in urlsplit(endpoint.url).path.split("/") if part]
    return f"publishers/{parts[0]}/models/{endpoint.served_model_name}" if len(parts) == 2 else ""


class Client:
    """Sends requests to one endpoint. ``timeout`` limits each request, in seconds; connecting may take 10 s of it."""

    def __init__(self, endpoint: Endpoint, http: httpx.AsyncClient, timeout: float, options: Options) -> None:
        self.name = endpoint.served_model_name
        self.other_name = advertised_name(endpoint)
        self.behind_door = endpoint.behind_door
        self._url = endpoint.url.rstrip("/")
        self._headers = endpoint.headers
        self.options = options
        self._http = http
        self._timeout = httpx.Timeout(timeout, connect=min(10.0, timeout))

    async def get(self, path: str) -> HttpAnswer:
        """GET of a path under the model's URL."""
        return await self._send("GET", path, None)

    async def post(self, path: str, body: Mapping[str, object] | bytes) -> HttpAnswer:
        """POST of JSON, or of unchanged bytes."""
        return await self._send("POST", path, body if isinstance(body, bytes) else json.dumps(body).encode())

    async def _send(self, method: str, path: str, content: bytes | None) -> HttpAnswer:
        started = time.monotonic()
        response = await self._http.request(
            method,
            self._url + path,
            content=content,
            headers={**self._headers, **({} if content is None else {"content-type": "application/json"})},
            timeout=self._timeout,
        )
        return HttpAnswer(response.status_code, response.text, time.monotonic() - started)

    async def stream(self, path: str, body: Mapping[str, object], enough: float | None = None) -> Stream:
        """A streamed answer (server-sent events), read to its end, or until ``enough`` seconds have passed."""
        seen = Stream()
        started = time.monotonic()
        request = self._http.build_request(
            "POST", self._url + path, json={**body, "stream": True}, headers=self._headers, timeout=self._timeout
        )
        response = await self._http.send(request, stream=True)
        try:
            seen.status = response.status_code
            seen.content_type = response.headers.get("content-type", "")
            if seen.status != 200 or "event-stream" not in seen.content_type:
                seen.text = (await response.aread()).decode(errors="replace")[:MOST_TEXT]
                return seen
            async for line in response.aiter_lines():
                now = time.monotonic() - started
                if _note(line, now, seen):
                    break
                if enough is not None and now > enough and seen.arrivals:
                    seen.stopped = True
                    break
        except httpx.TransportError as error:
            seen.broken = str(error) or type(error).__name__
        finally:
            seen.seconds = time.monotonic() - started
            await response.aclose()
        return seen


def _note(line: str, now: float, seen: Stream) -> bool:
    if not line.startswith("data:"):
        return False
    data = line.removeprefix("data:").strip()
    if data == "[DONE]":
        seen.finished = True
        return True
    try:
        content: object = json.loads(data)
    except ValueError:
        seen.broken = "a chunk is not JSON"
        return True
    event = part(content)
    if "error" in event:
        seen.text = json.dumps(event["error"])[:MOST_TEXT]
        return False
    for choice in each(event, "choices"):
        if text(choice, "text") or text_of(part(choice, "delta")):
            seen.arrivals.append(now)
    return False


def text_of(message: Object) -> str:
    """The text in a chat's message, or in a piece of it; a reasoning model first sends its reasoning."""
    texts = (text(message, key) for key in ("content", "reasoning", "reasoning_content"))
    return next(filter(None, texts), "")
