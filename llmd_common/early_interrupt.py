"""Ctrl-C while a command is still being imported."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def ends_at_once() -> Generator[None]:
    """Within it, Ctrl-C ends this process as it ends programs that do not handle it.

    For imports: there is nothing to clean up yet, and ``KeyboardInterrupt`` would end them with a traceback.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # otherwise it is ignored, as for a job in the background
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
