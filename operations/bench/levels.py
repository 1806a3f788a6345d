"""How concurrency is increased, and when to stop. Standard library only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

FLAT = 0.10
"""Share by which a doubling of concurrency must increase throughput; a smaller increase counts as flat."""

ERRORS = 0.05
"""Share of failed requests above which a level is not a valid measurement."""


def doubling(first: int, most: int) -> Iterator[int]:
    """``first``, twice ``first``, and so on; the last value is ``most``."""
    level = first
    while level < most:
        yield level
        level *= 2
    yield most


def enough(throughputs: Sequence[float], error_share: float) -> str:
    """The reason to stop after the newest of these levels; empty to continue.

    One flat doubling may be noise: the second in a row ends the run.
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
