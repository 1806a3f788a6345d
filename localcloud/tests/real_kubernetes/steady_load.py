"""A steady load on a model while something else happens, and what it shows of that."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localcloud.tests.real_kubernetes.harness import Laptop, until

CLIENT = Path(__file__).with_name("steady_client.py")
PAUSE_SECONDS = 0.2
"""Seconds between two requests."""


@dataclass(frozen=True)
class Figures:
    """Requests of one span of time; latencies in seconds."""

    requests: int
    failed: tuple[Any, ...]
    worst: float

    @classmethod
    def of(cls, answers: list[Any]) -> Figures:
        seconds = [one["seconds"] for one in answers]
        failed = tuple(one for one in answers if one["status"] != 200)
        return cls(len(answers), failed, max(seconds))


class Load:
    """Answers so far, in a file that the client writes to."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def answers(self) -> list[Any]:
        """Every answer so far, in the order in which they came."""
        lines = self._file.read_text().splitlines(keepends=True) if self._file.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def between(self, begin: float, end: float) -> Figures:
        """Of the requests that were sent in that time (seconds since 1970)."""
        return Figures.of([one for one in self.answers() if begin <= one["at"] < end])

    def await_more(self, count: int) -> None:
        """Waits for so many further answers."""
        before = len(self.answers())
        until(lambda: len(self.answers()) >= before + count, f"{count} answers under steady load")


@contextmanager
def steady(laptop: Laptop, file: Path, url: str, model: str, key: str | None = None) -> Generator[Load]:
    """Load for as long as the block lasts, with a caller's key if given; its last requests are answered at the end."""
    environment = {"LLM_API_KEY": key} if key else {}
    with laptop.beside(str(CLIENT), url, model, str(PAUSE_SECONDS), file=file, seconds=90, **environment):
        yield Load(file)
