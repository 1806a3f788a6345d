"""Downloads the next wrapper's modules while this one's programs are compiled.

Downloading and unpacking leave the processors idle, compiling leaves the network idle.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from llmd_common.problems import SetUpFailed

T = TypeVar("T")
OnLine = Callable[[str], None]
"""Gets each line of Go's messages, and an empty one every second."""


class _NotWanted(Exception):
    """Raised in a callback to end Go before it has finished."""


class Prefetch(Generic[T]):
    """Runs ``get`` in a thread. It passes ``get`` a function that ``get`` has to call at least once a second."""

    def __init__(self, get: Callable[[OnLine], T]) -> None:
        self._result: list[T] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(get,), daemon=True)
        self._thread.start()

    def _work(self, get: Callable[[OnLine], T]) -> None:
        try:
            self._result.append(get(self._on_line))
        except (_NotWanted, SetUpFailed):
            # A failed download is repeated when its turn comes, and its error is reported then.
            return

    def _on_line(self, line: str) -> None:
        del line
        if self._stop.is_set():
            raise _NotWanted

    def result(self, waiting: Callable[[], None]) -> T | None:
        """The result of ``get``; ``None`` if it failed. Calls ``waiting`` every second until ``get`` ends."""
        try:
            while self._thread.is_alive():
                waiting()
                self._thread.join(timeout=1)
        except BaseException:
            self.stop()
            raise
        return self._result[0] if self._result else None

    def stop(self) -> None:
        """Cancels the work, and waits until Go has ended."""
        self._stop.set()
        self._thread.join()
