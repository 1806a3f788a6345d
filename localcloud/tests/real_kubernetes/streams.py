"""Streams through the laptop cloud while something else happens, and what became of them."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.harness import Laptop, until

CLIENT = Path(__file__).with_name("streams_client.py")

SET = """
import json, sys
import httpx
for address in sys.argv[2:]:
    httpx.post(f"http://{address}:8000/admin/config", json=json.loads(sys.argv[1]), trust_env=False).raise_for_status()
"""
"""The simulator's own way to change its times while it runs (llm-d-inference-sim ``docs/api.md``)."""


def set_times(stack: Laptop, first_token: str, between: str, *namespaces: str) -> None:
    """How long every model server in those namespaces takes for the first token, and for each further one."""
    pods = [
        pod
        for namespace in namespaces
        for pod in objects.every(stack, "pods", "-l", "kserve.io/component=workload", namespace=namespace)
    ]
    times = json.dumps({"time-to-first-token": first_token, "inter-token-latency": between})
    stack.python(SET, times, *(pod["status"]["podIP"] for pod in pods))


@dataclass
class Streams:
    """Streams that have ended, in a file that the client writes to."""

    file: Path

    def ended(self) -> list[dict[str, Any]]:
        """One entry for each stream that has ended (``streams_client.py``)."""
        lines = self.file.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def broken(self, model: str | None = None) -> list[dict[str, Any]]:
        """Those of one model, or of all, that were refused or cut off."""
        ended = [one for one in self.ended() if model in (None, one["model"])]
        return [one for one in ended if not (one["status"] == 200 and one["whole"])]

    def await_more(self, count: int, model: str = "qwen") -> list[dict[str, Any]]:
        """Waits for so many further streams of that model, and returns all that ended meanwhile."""
        before = len(self.ended())

        def further() -> list[dict[str, Any]]:
            return self.ended()[before:]

        until(lambda: sum(one["model"] == model for one in further()) >= count, f"{count} streams of {model}")
        return further()


@contextmanager
def streams(stack: Laptop, file: Path, base: str, wanted: Sequence[dict[str, Any]]) -> Generator[Streams]:
    """So many streams at once (``streams_client.py``) for as long as the block lasts."""
    with stack.beside(str(CLIENT), base, json.dumps(wanted), file=file, seconds=400):
        yield Streams(file)
