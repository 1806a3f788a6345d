"""The last requests, in a file that all emulators of a folder append to; nothing secret gets into it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from localcloud.providers.protocol.values import JsonObject, JsonValue

REMEMBERED = 500
"""Number of requests that are kept."""
LONGEST = 2**20
"""Bytes of the file from which it is truncated to :data:`REMEMBERED` requests."""
SECRET = frozenset(
    ("privateKey", "clientKey", "password", "accessToken", "rawKey", "sharedSecret", "auth_token", "service_key")
)
"""Properties of Google's APIs whose values are not written down."""
HIDDEN = "[secret]"


def without_secrets(value: JsonValue) -> JsonValue:
    """A copy of ``value`` with :data:`HIDDEN` in place of secrets."""
    if isinstance(value, dict):
        secret = SECRET | {"headers"} if value.get("maskHeaders") is True else SECRET
        return {key: HIDDEN if key in secret and inner else without_secrets(inner) for key, inner in value.items()}
    return [without_secrets(one) for one in value] if isinstance(value, list) else value


class Journal:
    """Requests, one JSON object a line. Whoever appends holds the cloud's lock."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, request: JsonObject) -> None:
        """Writes a request down."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(without_secrets(request)) + "\n")
            size = file.tell()
        if size > LONGEST:
            self.path.write_text("".join(self._lines()), encoding="utf-8")

    def last(self) -> list[JsonObject]:
        """The last requests, the newest at the end. Needs no lock: a line that is only half written is left out."""
        return [cast("JsonObject", json.loads(line)) for line in self._lines() if line.endswith("\n")]

    def __iter__(self) -> Iterator[JsonObject]:
        return iter(self.last())

    def clear(self) -> None:
        """Removes all requests."""
        self.path.unlink(missing_ok=True)

    def _lines(self) -> list[str]:
        if not self.path.exists():
            return []
        return self.path.read_text(encoding="utf-8").splitlines(keepends=True)[-REMEMBERED:]
