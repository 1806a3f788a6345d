"""What long work shows: nothing for two seconds, then one line on standard error that says what is waited for."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from rich.status import Status

QUIET_SECONDS = 2.0


class Work:
    """Something under way. ``say`` replaces what is shown. Work within other work is shown in the line of that."""

    _outermost: ClassVar[Work | None] = None

    def __init__(self, doing: str, quiet_seconds: float = QUIET_SECONDS) -> None:
        self._doing = doing
        self._lock = threading.Lock()
        self._shown: Status | None = None
        self._started = False
        self._timer = threading.Timer(quiet_seconds, self._start)
        self._timer.daemon = True

    def say(self, doing: str) -> None:
        """What is waited for now."""
        outer = Work._outermost
        if outer is not None and outer is not self:
            outer.say(doing)
            return
        with self._lock:
            changed, self._doing = doing != self._doing, doing
            if self._shown is not None:
                self._shown.update(_plain(doing))
            elif self._started and changed:
                print(f"{doing} ...", file=sys.stderr, flush=True)

    def _start(self) -> None:
        with self._lock:
            self._started = True
            if not sys.stderr.isatty():
                print(f"{self._doing} ...", file=sys.stderr, flush=True)
                return
            from rich.console import Console  # only work that takes long pays for the import

            self._shown = Console(stderr=True).status(_plain(self._doing))
            self._shown.start()

    def __enter__(self) -> Work:
        if Work._outermost is not None:
            Work._outermost.say(self._doing)
            return self
        Work._outermost = self
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if Work._outermost is not self:
            return
        Work._outermost = None
        self._timer.cancel()
        with self._lock:
            if self._shown is not None:
                self._shown.stop()
                self._shown = None


def _plain(text: str) -> str:
    return text.replace("[", r"\[")


def working(doing: str, *, quiet_seconds: float = QUIET_SECONDS) -> Work:
    """To be used by ``with``: its end, also by Ctrl-C, takes the line away."""
    return Work(doing, quiet_seconds)
