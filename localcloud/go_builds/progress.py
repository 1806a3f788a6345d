"""The progress of a build: what is done now, and the time so far."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
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
    """Progress on ``console``, updated every second also while nothing happens.

    ``label`` begins each line; ``clock`` gives seconds.
    """

    def __init__(self, console: Console, label: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._line = ProgressLine(console, every_seconds=EVERY_SECONDS, clock=clock)
        self._label, self._clock, self._started, self._now = label, clock, clock(), ""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._update, daemon=True)

    def __enter__(self) -> Self:
        self._line.__enter__()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._line.__exit__()

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the display was made."""
        return self._clock() - self._started

    def say(self, text: str) -> None:
        """Prints a line that stays."""
        self._line.say(f"{self._label}: {text}")

    def show(self, now: str) -> None:
        """Sets what is done now."""
        self._now = now

    def draw(self) -> None:
        """Draws what is done now."""
        if self._now:
            self._line.show(f"{self._label}: {self._now}, {duration(self.elapsed_seconds)} so far")

    def _update(self) -> None:
        while not self._ended.wait(1):
            self.draw()
