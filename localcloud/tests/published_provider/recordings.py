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
SCENARIOS = "tests/e2e/testdata/scenarios"
"""Recordings in several files each, ``_http00.log`` and so on."""

REGIONAL = {"global/sslPolicies": "sslPolicies"}
"""Recorded as global resources, and replayed as those of a region: the program's are regional, and Google documents one
body for both (``SslPolicy`` in ``compute.v1``)."""

VERSIONS = ("fingerprint", "labelFingerprint", "etag")
"""What a client read and sends back. Recordings hold the same word for all of them."""

_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")
NAMES = {"projectId": "my-project", "projectNumber": "123456789012", "uniqueId": "abc123"}
"""What placeholders become; any other is made of its own name."""


ANYTHING = frozenset(
    f'"{one}"'
    for one in (
        "2024-04-01T12:34:56.123456Z", "000000000000000000000", "111111111111111111111", "888888888888888888888",
        "abcdef0123A=", "abcd1234", "1234567890abcdefghijklmn", "publicendpointipv4", "privateendpointipv4", "8.8.8.8",
    )
)  # fmt: skip
"""What recordings hold in place of times, numbers, versions, certificates and addresses."""

ZERO = frozenset(("false", "0", '"0"', '""', "null"))
"""Values that Google's APIs leave out or show, which is the same for a client."""


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
    return _PLACEHOLDER.sub(lambda match: NAMES.get(match[1], match[1].lower()), text)


def of(folder: Path) -> list[Exchange]:
    """The exchanges of all files of a recording, in order."""
    return [one for file in sorted(folder.glob("_http*.log")) for one in read(file)]


def _regional(path: str) -> str:
    for recorded, regional in REGIONAL.items():
        if recorded in path:
            return path.replace(recorded, f"regions/us-central1/{regional}")
    return path


def read(file: Path) -> Iterator[Exchange]:
    """The exchanges of one file."""
    for part in file.read_text().replace("\r", "").split("\n---\n"):
        blocks = part.strip().split("\n\n")
        first = blocks[0].split("\n")[0]
        match = re.match(r"(GET|POST|PUT|PATCH|DELETE) https://(\S+)", first)
        at = next((index for index, block in enumerate(blocks) if re.match(r"\d{3} \w", block)), None)
        if match is None or at is None:
            continue
        url = urlsplit(f"https://{filled(match[2])}")
        yield Exchange(
            http=match[1],
            path=_regional(unquote(f"{url.netloc}{url.path}")),
            query=dict(parse_qsl(url.query)),
            body=_object("\n\n".join(blocks[1:at])),
            status=int(blocks[at][:3]),
            answer=_object("\n\n".join(blocks[at + 1 :])),
        )


def _object(text: str) -> dict[str, Any]:
    try:
        data: object = json.loads(filled(text))
    except json.JSONDecodeError:
        return {}
    return cast("dict[str, Any]", data) if isinstance(data, dict) else {}


def values(answer: object, above: str = "") -> dict[str, set[str]]:
    """Every property in an answer with its values as JSON, lists without their indices; an object has no value."""
    result: dict[str, set[str]] = {above: set()} if above else {}
    if isinstance(answer, dict):
        inner = [
            values(item, f"{above}.{key}" if above else key) for key, item in cast("dict[str, object]", answer).items()
        ]
    elif isinstance(answer, list):
        inner = [values(item, above) for item in cast("list[object]", answer)]
    else:
        inner = [{above: {json.dumps(answer)}}]
    for one in inner:
        for path, given in one.items():
            result.setdefault(path, set()).update(given)
    return result


def operation(one: Exchange) -> bool:
    """Whether it is answered by a long-running operation: how far that is, is the emulator's own."""
    return one.answer.get("name") in ("operationid", "operations/operationid")


def differences(one: Exchange, answer: dict[str, Any]) -> tuple[set[str], set[str], dict[str, tuple[str, str]]]:
    """Properties that were recorded and are absent, that are added, and those with another value."""
    due, given = values(one.answer), values(answer)
    other = {
        path: (" ".join(sorted(due[path])), " ".join(sorted(given[path])))
        for path in due.keys() & given.keys()
        if due[path] != given[path] and not due[path] <= ANYTHING
    }
    return due.keys() - given.keys(), {path for path in given.keys() - due.keys() if given[path] - ZERO}, other


def _resource(path: str) -> str:
    """A path without the verb at its end."""
    return re.sub(r"/setLabels$|:[gs]etIamPolicy$", "", path)


def _with_versions(body: dict[str, Any], present: dict[str, Any]) -> dict[str, Any]:
    """The body with the versions that were read last, also inside a policy."""
    return {
        key: present.get(key, value)
        if key in VERSIONS
        else _with_versions(cast("dict[str, Any]", value), present)
        if key == "policy"
        else value
        for key, value in body.items()
    }


def replay(exchanges: list[Exchange], emulator: Emulator) -> Iterator[tuple[Exchange, int, dict[str, Any]]]:
    """Sends each request, with the operation and the version of a resource that the emulator answered before.

    Names that Google assigns are those of the emulator in requests, and the recorded ones in answers.
    """
    started: dict[str, Any] = {}
    shown: dict[str, dict[str, Any]] = {}
    numbered: dict[str, str] = {}
    for one in exchanges:
        path = one.path
        for recorded, name in numbered.items():
            path = path.replace(recorded, name)
        if "operationid" in path and started:
            path = path.replace("operationid", str(started["name"]))
            if "/regions/" in str(started.get("selfLink")):
                path = path.replace("/global/operations/", "/regions/us-central1/operations/")
        body = _with_versions(one.body, shown.get(_resource(one.path), {}))
        status, answer = emulator.answer(one.http, path, one.query, body)
        if operation(one) and isinstance(answer.get("name"), str):
            started = answer
        if one.http == "GET" or path.endswith(":getIamPolicy"):
            shown[_resource(one.path)] = answer
        if one.http == "POST" and "monitoring.googleapis.com" in path and status == 200:
            numbered[str(one.answer["name"])] = str(answer["name"])
        for recorded, name in numbered.items():
            answer = cast("dict[str, Any]", json.loads(json.dumps(answer).replace(name, recorded)))
        yield one, status, answer
