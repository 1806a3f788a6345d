"""Awaiting a condition in a test, in place of sleeping."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def eventually(look: Callable[[], T | None], seconds: float = 15) -> T:
    """The first answer that is true. Fails after ``seconds`` with the last one that was not."""
    ends = time.monotonic() + seconds
    while True:
        result = look()
        if result:
            return result
        assert time.monotonic() < ends, f"after {seconds} s still {result!r}"
        time.sleep(0.02)
