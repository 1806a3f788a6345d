"""The progress of a build: what is done now, and the time so far."""

from __future__ import annotations

import time
from typing import Self

from rich.console import Console

from llmd_common.progress_line import ProgressLine

EVERY_SECONDS = 10.0
"""Seconds between two lines if there is no terminal."""


def duration(seconds: float) -> str:
    """``95`` as ``1 min 35 s``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


class Display:
    """Progress on ``console``. ``label`` begins each line."""

    def __init__(self, console: Console, label: str) -> None:
        self._line = ProgressLine(console, every_seconds=EVERY_SECONDS)
        self._label, self._started = label, time.monotonic()

    def __enter__(self) -> Self:
        self._line.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._line.__exit__()

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the display was made."""
        return time.monotonic() - self._started

    def say(self, text: str) -> None:
        """Prints a line that stays."""
        self._line.say(f"{self._label}: {text}")

    def show(self, now: str) -> None:
        """Shows what is done now."""
        self._line.show(f"{self._label}: {now}, {duration(self.elapsed_seconds)} so far")
