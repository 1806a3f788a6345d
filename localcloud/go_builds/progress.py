"""The progress of a build: share, elapsed time and remaining time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from rich.console import Console

from llmd_common.progress_line import ProgressLine

EVERY_SECONDS = 10.0
"""Seconds between two lines if there is no terminal."""

LINK_SHARE = 0.06
"""Share of linking in the time of a build (measured: 17 of 290 s)."""


def duration(seconds: float) -> str:
    """``95`` as ``1 min 35 s``."""
    whole = max(0, round(seconds))
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def left_seconds(share: float, skipped: float, expected_seconds: float, elapsed_seconds: float) -> float:
    """Seconds left when ``share`` is done, ``skipped`` of it before this run.

    ``expected_seconds`` is a first guess for the whole, whose weight decreases as this run progresses.
    """
    ran, remaining = share - skipped, 1 - share
    guess = expected_seconds * remaining
    if ran <= 0:
        return max(0.0, guess - elapsed_seconds)
    trust = min(1.0, ran / 0.3)
    return trust * elapsed_seconds * remaining / ran + (1 - trust) * guess


@dataclass
class Estimate:
    """Share and remaining time of a build, from the weights of the packages compiled so far.

    ``weights``: work per package in any unit. ``expected_seconds``: a first guess for the build, whose weight decreases
    as the build progresses. ``before``: packages that an interrupted build has compiled already.
    """

    weights: Mapping[str, float]
    expected_seconds: float
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
        """Number of packages that are compiled, and of all packages."""
        return len(self._done), len(self.weights)

    @property
    def share(self) -> float:
        """Share that is done (0 to 1); ``1 - LINK_SHARE`` when only linking remains."""
        total = sum(self.weights.values())
        return (1 - LINK_SHARE) * sum(self.weights[name] for name in self._done) / total if total else 0.0

    @property
    def skipped(self) -> float:
        """The share that an interrupted build had done already."""
        return self._skipped

    def left_seconds(self, elapsed_seconds: float) -> float:
        """Seconds left after ``elapsed_seconds`` seconds of this run."""
        return left_seconds(self.share, self._skipped, self.expected_seconds, elapsed_seconds)


@dataclass
class Steps:
    """Several builds, one after the other, as one. ``costs``: seconds each is expected to take alone."""

    costs: Sequence[float]
    at: int = -1
    _now: Estimate | None = field(default=None, init=False)
    _skipped: float = field(default=0.0, init=False)

    def begin(self, estimate: Estimate) -> None:
        """Starts the next build, with its estimate."""
        self.at, self._now = self.at + 1, estimate
        self._skipped += estimate.skipped * self.costs[self.at] / sum(self.costs)

    @property
    def share(self) -> float:
        """Share of all builds that is done (0 to 1)."""
        within = self._now.share * self.costs[self.at] if self._now else 0.0
        return (sum(self.costs[: max(self.at, 0)]) + within) / sum(self.costs)

    def left_seconds(self, elapsed_seconds: float) -> float:
        """Seconds left of all of them after ``elapsed_seconds`` seconds of this run."""
        return left_seconds(self.share, self._skipped, sum(self.costs), elapsed_seconds)


class Display:
    """Progress of a build on ``console``: what is done now, its share, and the time so far and left.

    ``label`` begins each line; ``clock`` gives seconds.
    """

    def __init__(self, console: Console, label: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._line = ProgressLine(console, every_seconds=EVERY_SECONDS, clock=clock)
        self._label, self._clock, self._started = label, clock, clock()

    def __enter__(self) -> Self:
        self._line.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._line.__exit__()

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the display was made."""
        return self._clock() - self._started

    def say(self, text: str) -> None:
        """Prints a line that stays."""
        self._line.say(f"{self._label}: {text}")

    def show(self, what: str, *, share: float | None = None, left_seconds: float | None = None) -> None:
        """``what`` is done now; ``share`` from 0 to 1 and ``left_seconds`` seconds where they are known."""
        text = f"{self._label}: {what}"
        if share is not None:
            text += f", {share:.0%}"
        text += f", {duration(self.elapsed_seconds)} so far"
        if left_seconds is not None:
            text += f", about {duration(left_seconds)} left"
        self._line.show(text, share)
