"""One line with the work in progress: redrawn in place on a terminal, printed line by line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text


class ProgressLine:
    """Shows one text on ``console``, between ``with`` and its end, which removes the line from a terminal.

    Elsewhere a text is printed only if ``every_seconds`` seconds have passed since the last one. ``clock``: seconds.
    """

    def __init__(
        self, console: Console, *, every_seconds: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console, self._every_seconds, self._clock = console, every_seconds, clock
        self._printed = float("-inf")
        self._spinner = Spinner("dots")
        redraws = console.is_terminal and not console.is_dumb_terminal
        self._live = Live(console=console, transient=True, refresh_per_second=8) if redraws else None

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def show(self, text: str) -> None:
        """Replaces the text."""
        if self._live:
            self._spinner.update(text=Text(text))
            self._live.update(self._spinner, refresh=True)
        elif self._clock() - self._printed >= self._every_seconds:
            self._printed = self._clock()
            self.say(text)

    def say(self, text: str) -> None:
        """Prints a line that stays, above the one that is redrawn."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)
