"""For commands that must end what they began, also if their terminal closes or nobody reads their output."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TextIO, cast

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


def drop_unread_output() -> None:
    """From now on a closed pipe, terminal or descriptor makes what is printed there vanish, without an error."""
    if cast("TextIO | None", sys.stdin) is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123 - stays open: the next file would get its number
    for name in ("stdout", "stderr"):
        stream = cast("TextIO | None", getattr(sys, name))
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, PTH123 - as above
        elif not isinstance(stream, _Dropping):
            setattr(sys, name, _Dropping(stream))


class _Dropping:
    """A stream whose descriptor becomes ``/dev/null`` at the first error: EPIPE of a pipe, EIO of a closed terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            self._drop()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            self._drop()

    def _drop(self) -> None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self._stream.fileno())
        os.close(null)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)
