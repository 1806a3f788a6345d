"""The progress of a command: after two seconds, one line on standard error with what the command waits for.

Work that is known to be slow shows its line at once, as plain text, before large imports. On a terminal
:mod:`llmd_common.progress_line` then takes over.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from llmd_common.progress_line import ProgressLine

QUIET_SECONDS = 2.0
ERASE = "\r\x1b[K"


class Work:
    """Work in progress. ``say`` replaces the text. Work inside other work uses the line of the outer one."""

    _outermost: ClassVar[Work | None] = None

    def __init__(self, doing: str, quiet_seconds: float = QUIET_SECONDS) -> None:
        self._doing = doing
        self._lock = threading.Lock()
        self._shown: ProgressLine | None = None
        self._plain = False
        """Whether the line on the terminal is still the plain text, without a spinner."""
        self._started = False
        self._at_once = quiet_seconds == 0
        self._timer = threading.Timer(quiet_seconds or QUIET_SECONDS, self._start)
        self._timer.daemon = True

    def say(self, doing: str) -> None:
        """Replaces the text by ``doing``: what the command waits for now."""
        outer = Work._outermost
        if outer is not None and outer is not self:
            outer.say(doing)
            return
        with self._lock:
            changed, self._doing = doing != self._doing, doing
            if self._shown is not None:
                self._shown.show(doing)
            elif self._started and changed:
                self._print()

    def _print(self) -> None:
        self._started = True
        if not _redraws():
            print(f"{self._doing} ...", file=sys.stderr, flush=True)
            return
        with suppress(OSError):  # a terminal that was just closed has no size
            width = os.get_terminal_size(sys.stderr.fileno()).columns
            print(f"{ERASE}{f'{self._doing} ...'[: width - 1]}", end="", file=sys.stderr, flush=True)
            self._plain = True

    def _erase(self) -> None:
        if self._plain:
            print(ERASE, end="", file=sys.stderr, flush=True)
            self._plain = False

    def _start(self) -> None:
        if not _redraws():
            with self._lock:
                if not self._started:
                    self._print()
            return
        from rich.console import Console  # only work that takes long pays for the import

        from llmd_common.progress_line import ProgressLine

        with self._lock:
            if Work._outermost is not self:  # the work has ended in the meantime
                return
            self._erase()
            self._shown = ProgressLine(Console(stderr=True)).__enter__()
            self._shown.show(self._doing)

    def __enter__(self) -> Work:
        if Work._outermost is not None:
            Work._outermost.say(self._doing)
            return self
        Work._outermost = self
        if self._at_once:
            self._print()
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if Work._outermost is not self:
            return
        self._timer.cancel()
        with self._lock:
            Work._outermost = None
            self._erase()
            if self._shown is not None:
                self._shown.__exit__()
                self._shown = None


def _redraws() -> bool:
    """Whether standard error is a terminal on which a line can be redrawn."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def working(doing: str, *, quiet_seconds: float = QUIET_SECONDS) -> Work:
    """Progress for a ``with`` statement, whose end, also by Ctrl-C, removes the line. The line appears after
    ``quiet_seconds``, with 0 at once.
    """
    return Work(doing, quiet_seconds)
