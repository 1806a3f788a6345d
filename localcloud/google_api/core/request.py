"""A request to a service, and the table of the functions that answer methods."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from localcloud.google_api.core.cloud import EmulatedCloud
from localcloud.google_api.core.discovery import Method
from localcloud.google_api.core.errors import ApiError
from localcloud.providers.protocol.values import JsonObject, JsonValue


@dataclass(frozen=True)
class Request:
    """``at`` holds the path's parameters, ``query`` those after the question mark; no body is an empty ``body``."""

    cloud: EmulatedCloud
    method: Method
    path: str
    host: str
    at: dict[str, str]
    query: dict[str, str] = field(default_factory=dict[str, str])
    body: JsonObject = field(default_factory=dict[str, JsonValue])

    @property
    def project(self) -> str:
        """The project that the path names; of a service account below ``projects/-``, the account's."""
        match = re.search(r"projects/(?:-/serviceAccounts/[^@/]+@)?([^/:.]+)", self.path)
        return match[1] if match else ""

    @property
    def seconds(self) -> float:
        """Seconds that an operation of the request takes."""
        return self.cloud.faults.seconds(self.method.id, self.path)

    @property
    def failure(self) -> str:
        """The message with which its operation has to fail; ``""`` if it succeeds."""
        fault = self.cloud.faults.strike("operation", self.method.id, self.path)
        return str(fault.get("message", "backend error")) if fault else ""

    def page(self, key: str, items: list[JsonValue], size: str = "maxResults", **more: JsonValue) -> JsonObject:
        """One page of a list. Raises :class:`ApiError` for a token that was never given."""
        token = self.query.get("pageToken") or "0"
        limit = self.query.get(size) or "500"
        if not token.isdecimal() or not limit.isdecimal() or int(token) > len(items):
            raise ApiError(400, "Invalid value for field 'pageToken'", "invalid")
        start, count = int(token), int(limit) or 500
        answer: JsonObject = {**more, key: items[start : start + count]}
        if start + count < len(items):
            answer["nextPageToken"] = str(start + count)
        return answer


Handler = Callable[[Request], JsonObject]
HANDLERS: dict[str, Handler] = {}
"""The function that answers a method, by its id. Modules of ``services`` add theirs when they are imported."""


def answers(*methods: str) -> Callable[[Handler], Handler]:
    """Registers a function for methods."""

    def register(handler: Handler) -> Handler:
        for method in methods:
            HANDLERS[method] = handler
        return handler

    return register


BACKGROUND: list[Callable[[EmulatedCloud], None]] = []
"""Functions that imitate Google's background work; they run before each request."""


def in_background(work: Callable[[EmulatedCloud], None]) -> Callable[[EmulatedCloud], None]:
    """Adds a function to :data:`BACKGROUND`."""
    BACKGROUND.append(work)
    return work
