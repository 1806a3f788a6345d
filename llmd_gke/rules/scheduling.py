"""Rules about the endpoint picker's plugins. Source: as :mod:`llmd_gke.catalog.scheduling`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from llmd_gke.catalog import scheduling
from llmd_gke.rules.finding import Finding

PLUGIN_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,62})")


def plugins(entries: Sequence[tuple[str, int | None]], *, prefix_caching: bool) -> Iterator[Finding]:
    """The plugins (type and weight) form one valid profile of the endpoint picker."""
    seen: set[str] = set()
    for kind, weight in entries:
        scorer = kind.endswith(scheduling.SCORER_SUFFIX)
        if not PLUGIN_NAME.fullmatch(kind):
            yield _plugin(f"{kind!r} is not a plugin type", "lower-case letters, digits and dashes", "queue-scorer")
        elif kind in seen:
            yield _plugin(f"{kind} is listed twice", "each plugin at most once", f"keep one entry for {kind}")
        elif scorer and weight is None:
            yield _plugin(f"{kind} has no weight", "a weight for each scorer", f"weight: 2 for {kind}")
        elif not scorer and weight is not None:
            yield _plugin(f"{kind} has a weight but is not a scorer", "weights for scorers only", "remove its weight")
        elif kind in scheduling.NEEDS_PREFIX_CACHE and not prefix_caching:
            yield _plugin(f"{kind} needs prefix caching in the server", "prefixCaching: true", f"remove {kind}")
        seen.add(kind)
    if not any(kind.endswith(scheduling.SCORER_SUFFIX) for kind, _ in entries):
        yield _plugin("the list has no scorer", "at least one scorer", "add queue-scorer with weight: 2")
    pickers = [kind for kind, _ in entries if kind.endswith(scheduling.PICKER_SUFFIX)]
    if len(pickers) > 1:
        yield _plugin(f"{' and '.join(pickers)} are both pickers", "at most one picker", f"keep {pickers[0]}")


def saturation(kinds: Sequence[str], *, counted: bool = False) -> Iterator[Finding]:
    """Saturation is set once: by ``saturation`` or in ``plugins``. ``counted``: it limits the requests in flight."""
    detector = scheduling.CONCURRENCY_DETECTOR if counted else scheduling.SATURATION_DETECTOR
    if detector in kinds:
        yield _plugin(
            f"{detector} is in the list of plugins, but saturation also configures it",
            "one of the two",
            f"remove {detector} from plugins",
        )


def one_detector(thresholds: Sequence[str], *, counted: bool) -> Iterator[Finding]:
    """A picker has one saturation detector: a limit of requests in flight excludes thresholds on metrics."""
    if counted and thresholds:
        names = ", ".join(thresholds)
        yield Finding(
            "scheduler-plugin",
            f"requests in flight and thresholds on metrics ({names}) are both set, but the picker uses one of them",
            "maxConcurrency alone, or only thresholds",
            f"remove {names}, or remove maxConcurrency",
        )


def _plugin(problem: str, allowed: str, fix: str) -> Finding:
    return Finding("scheduler-plugin", problem, allowed, fix)
