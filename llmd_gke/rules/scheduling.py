"""Rules about the endpoint picker's plugins. Source: as :mod:`llmd_gke.catalog.scheduling`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from llmd_gke.catalog import scheduling
from llmd_gke.rules.finding import Finding

PLUGIN_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,62})")


def plugins(entries: Sequence[tuple[str, int | None]], *, prefix_caching: bool) -> Iterator[Finding]:
    """A list of plugins (type and weight) of which the picker can make one profile."""
    seen: set[str] = set()
    for kind, weight in entries:
        scorer = kind.endswith(scheduling.SCORER_SUFFIX)
        if not PLUGIN_NAME.fullmatch(kind):
            yield _plugin(f"{kind!r} is not a plugin type", "lower-case letters, digits and dashes", "queue-scorer")
        elif kind in seen:
            yield _plugin(f"{kind} is there twice", "each plugin once", f"keep one {kind}")
        elif scorer and weight is None:
            yield _plugin(f"{kind} has no weight", "a weight for each scorer", f"weight: 2 for {kind}")
        elif not scorer and weight is not None:
            yield _plugin(f"{kind} has a weight and is no scorer", "weights for scorers", "leave its weight out")
        elif kind in scheduling.NEEDS_PREFIX_CACHE and not prefix_caching:
            yield _plugin(f"{kind} needs prefix caching in the server", "prefixCaching: true", f"leave {kind} out")
        seen.add(kind)
    if not any(kind.endswith(scheduling.SCORER_SUFFIX) for kind, _ in entries):
        yield _plugin("no plugin gives scores", "at least one scorer", "add queue-scorer with weight: 2")
    pickers = [kind for kind, _ in entries if kind.endswith(scheduling.PICKER_SUFFIX)]
    if len(pickers) > 1:
        yield _plugin(f"{' and '.join(pickers)} both pick", "at most one picker", f"keep {pickers[0]}")


def saturation(kinds: Sequence[str]) -> Iterator[Finding]:
    """Thresholds are said in one place: as settings, or as a plugin of one's own."""
    if scheduling.SATURATION_DETECTOR in kinds:
        yield _plugin(
            f"{scheduling.SATURATION_DETECTOR} is a plugin of the list, and saturation sets it, too",
            "one of the two",
            f"take {scheduling.SATURATION_DETECTOR} out of plugins",
        )


def _plugin(problem: str, allowed: str, fix: str) -> Finding:
    return Finding("scheduler-plugin", problem, allowed, fix)
