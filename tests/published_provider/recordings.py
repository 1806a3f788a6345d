"""Recorded exchanges with Google's APIs: k8s-config-connector's ``_http.log``, of its published Go module (Apache-2.0).

They are recordings of its mock, which upstream keeps equal to Google. Read from the module cache, never copied.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from localcloud.google_api.server import Emulator

MODULE, VERSION = "github.com/GoogleCloudPlatform/k8s-config-connector", "v1.151.0"
FOLDER = "pkg/test/resourcefixture/testdata/basic"
_PLACE = re.compile(r"\$\{(\w+)\}")
NAMES = {"projectId": "my-project", "projectNumber": "123456789012", "uniqueId": "abc123"}
"""What placeholders become; any other is made of its own name."""


@dataclass(frozen=True)
class Exchange:
    """One request, and what was answered."""

    http: str
    path: str
    query: dict[str, str]
    body: dict[str, Any]
    status: int
    answer: dict[str, Any]

    @property
    def label(self) -> str:
        return f"{self.http} {self.path}"


def filled(text: str) -> str:
    """Names in place of placeholders."""
    return _PLACE.sub(lambda found: NAMES.get(found[1], found[1].lower()), text)


def read(file: Path) -> Iterator[Exchange]:
    """The exchanges of a recording, in order."""
    for part in file.read_text().replace("\r", "").split("\n---\n"):
        blocks = part.strip().split("\n\n")
        first = blocks[0].split("\n")[0]
        found = re.match(r"(GET|POST|PUT|PATCH|DELETE) https://(\S+)", first)
        at = next((index for index, block in enumerate(blocks) if re.match(r"\d{3} \w", block)), None)
        if found is None or at is None:
            continue
        url = urlsplit(f"https://{filled(found[2])}")
        yield Exchange(
            found[1],
            unquote(f"{url.netloc}{url.path}"),
            dict(parse_qsl(url.query)),
            _object("\n\n".join(blocks[1:at])),
            int(blocks[at][:3]),
            _object("\n\n".join(blocks[at + 1 :])),
        )


def _object(text: str) -> dict[str, Any]:
    try:
        found: object = json.loads(filled(text))
    except json.JSONDecodeError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def paths(value: object, above: str = "") -> set[str]:
    """Every property in an answer, lists without their indices."""
    if isinstance(value, dict):
        found = cast("dict[str, object]", value)
        return {f"{above}{key}" for key in found} | {
            one for key, item in found.items() for one in paths(item, f"{above}{key}.")
        }
    if isinstance(value, list):
        return {one for item in cast("list[object]", value) for one in paths(item, above)}
    return set()


def replay(exchanges: list[Exchange], emulator: Emulator) -> Iterator[tuple[Exchange, int, dict[str, Any]]]:
    """Sends each request; an operation is called as the emulator calls it."""
    operation = ""
    for one in exchanges:
        path = one.path.replace("operationid", operation) if operation else one.path
        status, answer = emulator.answer(one.http, path, one.query, one.body)
        if one.answer.get("name") == "operationid" and isinstance(answer.get("name"), str):
            operation = str(answer["name"])
        yield one, status, answer
