"""How far a build is, how long it took so far and how much is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

EVERY_S = 10.0
"""Between two lines where there is no terminal."""

LINK_SHARE = 0.06
"""What linking takes of a whole build, in work units (measured: 17 of 290 s)."""


def duration(seconds: float) -> str:
    """``95`` as ``1 min 35 s``."""
    whole = max(0, round(seconds))
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


@dataclass
class Estimate:
    """Share and remaining time of a build, from the weights of the packages compiled so far.

    ``weights``: work per package in any unit. ``expected_s``: a first guess for the whole build, which counts less and
    less as the build itself tells. ``before``: packages that an interrupted build has compiled already.
    """

    weights: Mapping[str, float]
    expected_s: float
    before: Iterable[str] = ()
    _done: set[str] = field(default_factory=set[str], init=False)
    _skipped: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._done = {name for name in self.before if name in self.weights}
        self._skipped = self.share

    def compiled(self, package: str) -> None:
        """Counts a package; one that is not part of the build, or was counted, changes nothing."""
        if package in self.weights:
            self._done.add(package)

    @property
    def count(self) -> tuple[int, int]:
        """Packages compiled, packages in all."""
        return len(self._done), len(self.weights)

    @property
    def share(self) -> float:
        """0 to 1; reaches ``1 - LINK_SHARE`` when everything is compiled and only linking is left."""
        total = sum(self.weights.values())
        return (1 - LINK_SHARE) * sum(self.weights[name] for name in self._done) / total if total else 0.0

    def left_s(self, elapsed_s: float) -> float:
        """Seconds left after ``elapsed_s`` seconds of this run."""
        ran, remaining = self.share - self._skipped, 1 - self.share
        guess = self.expected_s * remaining
        if ran <= 0:
            return max(0.0, guess - elapsed_s)
        trust = min(1.0, ran / 0.3)
        return trust * elapsed_s * remaining / ran + (1 - trust) * guess


class Display:
    """Shows one line of progress: kept in place on a terminal, else repeated every ten seconds."""

    def __init__(self, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._console, self._clock = console, clock
        self._started, self._said = clock(), float("-inf")
        self._live = Live(console=console, transient=True, refresh_per_second=4) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the display was made."""
        return self._clock() - self._started

    def show(self, what: str, *, share: float | None = None, left_s: float | None = None) -> None:
        """``what`` is done now; ``share`` from 0 to 1 and ``left_s`` seconds where they are known."""
        text = f"engine: {what}"
        if share is not None:
            text += f", {share:.0%}"
        text += f", {duration(self.elapsed_s)} so far"
        if left_s is not None:
            text += f", about {duration(left_s)} left"
        if self._live:
            row = Table.grid(padding=(0, 1))
            row.add_row(ProgressBar(total=1.0, completed=share or 0.0, width=24, pulse=share is None), text)
            self._live.update(row)
        elif self._clock() - self._said >= EVERY_S:
            self._said = self._clock()
            self._console.print(text, highlight=False, soft_wrap=True)
