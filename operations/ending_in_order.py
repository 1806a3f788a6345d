"""For commands that must end what they began, also if their terminal closes or nobody reads their output."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from types import FrameType

from llmd_common.unread_output import drop_unread_output

TERMINATIONS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ending_in_order() -> Generator[None]:
    """SIGTERM and a closed terminal (SIGHUP) interrupt the command as Ctrl-C does; unread output is dropped."""
    drop_unread_output()
    # A terminal that closes may send several signals: a second one must not end the wait for a child process.
    with _handling(TERMINATIONS, _Once()):
        yield


@contextmanager
def interrupted_once(later: str) -> Generator[Callable[[], None]]:
    """Only the first of Ctrl-C, SIGTERM and SIGHUP interrupts, none once the given function was called.

    Every other signal only prints ``later``.
    """
    once = _Once(later)
    with _handling((signal.SIGINT, *TERMINATIONS), once):
        yield once.end


class _Once:
    """A signal handler that raises ``KeyboardInterrupt`` at most once."""

    def __init__(self, later: str = "") -> None:
        self._later, self._ended = later.encode(), False

    def end(self) -> None:
        self._ended = True

    def __call__(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if not self._ended:
            self._ended = True
            raise KeyboardInterrupt
        if self._later:
            with suppress(OSError):
                os.write(2, self._later)  # `print` may be what the signal has interrupted


@contextmanager
def _handling(numbers: Iterable[signal.Signals], handler: _Once) -> Generator[None]:
    """Installs a handler, except for signals that are ignored, as SIGHUP is below ``nohup``."""
    before = {number: old for number in numbers if (old := signal.getsignal(number)) is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
