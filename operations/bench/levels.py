"""How concurrency is raised, and when it has been raised enough. Standard library only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

FLAT = 0.10
"""A doubling that brings less than this share more throughput brings nothing."""

ERRORS = 0.05
"""Beyond this share of failed requests a level says nothing about the server."""


def doubling(first: int, most: int) -> Iterator[int]:
    """``first``, twice that, and so on; ``most`` is the last."""
    level = first
    while level < most:
        yield level
        level *= 2
    yield most


def enough(throughputs: Sequence[float], error_share: float) -> str:
    """Why to stop after the newest of these levels; empty to go on.

    One flat doubling can be a hiccup: two end it.
    """
    if error_share > ERRORS:
        return f"{error_share:.0%} of the requests failed"
    if not throughputs[-1]:
        return "no request finished after the warm-up (use longer levels: --seconds, or a shorter warm-up: --warmup)"
    if len(throughputs) < 3:
        return ""
    before = max(throughputs[:-2])
    if max(throughputs[-2:]) < before * (1 + FLAT):
        return "throughput is flat: doubling the concurrency twice increased it by less than a tenth"
    return ""
