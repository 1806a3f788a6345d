"""Which tests of the laptop cloud share a cluster, in what order they run, and when there is no time for more.

Starting a cluster is most of what they cost, so tests that use the same one run in one worker (``--dist loadgroup``),
one after the other; those with a cluster of their own go to whoever is free.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

SHARED = ("laptop", "bare", "both", "kubelet")
"""Fixtures with a cluster for many tests."""

FIRST = ("test_requests", "test_operations", "test_refusals", "test_routing", "test_load", "test_two_models")
"""What shows most, if there is no time for all. ``test_destroy`` ends the stack that others use."""


def group(fixtures: Sequence[str], file: str, shared_with_others: bool) -> str | None:
    """The group of a test: that of its shared cluster, of its file when the cluster is the file's, or none."""
    cluster = next((name for name in SHARED if name in fixtures), None)
    if cluster is None:
        return None
    return cluster if shared_with_others else file


def rank(file: str) -> tuple[int, str]:
    """Where a file comes among the others."""
    if file == "test_destroy":
        return len(FIRST) + 1, file
    return FIRST.index(file) if file in FIRST else len(FIRST), file


class Deadline:
    """Tests that would begin later than so many minutes after the start are left out, and said to be."""

    def __init__(self, minutes: str) -> None:
        try:
            self._minutes = float(minutes) if minutes else None
        except ValueError:
            raise pytest.UsageError(f"MINUTES={minutes} is no number. Fix: MINUTES=20, or leave it out") from None
        self._began = time.monotonic()

    def check(self) -> None:
        """Skips the test that is about to begin when the time is over."""
        if self._minutes is not None and time.monotonic() - self._began > 60 * self._minutes:
            pytest.skip(f"left out: the {self._minutes:g} minutes it had are over (MINUTES)")
