"""curl asks an endpoint from inside a laptop cloud."""

from __future__ import annotations

import json
from dataclasses import dataclass

from localcloud.tests.real_kubernetes.clients.asking import Endpoint
from localcloud.tests.real_kubernetes.harness import Laptop


@dataclass(frozen=True)
class Answer:
    """What curl says of an answer."""

    status: int
    text: str


def curl(laptop: Laptop, endpoint: Endpoint, path: str, *options: str, body: object = None) -> Answer:
    """Asks with curl, ``body`` as JSON or, if it is a text, as it is."""
    command = [
        "curl",
        "--silent",
        "--show-error",
        "--noproxy",
        "*",
        "--max-time",
        "60",
        "--write-out",
        "\n%{http_code}",
    ]
    command += ["--header", f"Authorization: Bearer {endpoint.key}"]
    if endpoint.authority:
        command += ["--cacert", str(endpoint.authority)]
    if body is not None:
        command += ["--json", body if isinstance(body, str) else json.dumps(body)]
    done = laptop.inside(*command, *options, endpoint.base + path, check=False)
    text, _, status = done.stdout.rpartition("\n")
    return Answer(int(status or 0), text)
