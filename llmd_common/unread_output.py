"""Output whose reader goes away, as in ``make up | head``: the command goes on to its end."""

from __future__ import annotations

import os
import sys
from typing import TextIO, cast


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
