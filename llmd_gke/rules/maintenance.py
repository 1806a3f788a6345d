"""Rules about when GKE may upgrade a cluster automatically.

Source: https://cloud.google.com/kubernetes-engine/docs/how-to/maintenance-windows-and-exclusions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from llmd_gke.rules.finding import Finding

DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
LEAST_HOURS = 48
"""Hours of maintenance availability that GKE requires in any 32 days, which contain four whole weeks."""

MOST_EXCLUSIONS = 20
LONGEST_WITHOUT_UPGRADES = timedelta(days=30)
"""The rest of 32 days after 48 hours of maintenance."""


def window(days: Sequence[str], hours: int) -> Iterator[Finding]:
    """A weekly window leaves GKE at least 48 hours in 32 days."""
    times = len(set(days))
    available = times * hours * 4
    if available < LEAST_HOURS:
        yield Finding(
            "maintenance-window",
            f"{times} times {hours} hours a week give {available} hours in 32 days, but GKE requires {LEAST_HOURS}",
            allowed="at least 12 as days times hours",
            fix=f"set hours to {-(-12 // times)}, or list more days",
        )


def exclusion(start: str, end: str | None, scope: str) -> Iterator[Finding]:
    """An exclusion ends after it starts; one that excludes all upgrades has an end and is at most
    :data:`LONGEST_WITHOUT_UPGRADES` long.

    ``start`` and ``end`` are days, ``YYYY-MM-DD``; without an end it lasts until the version's end of support.
    """
    times = [_day(text) for text in (start, end) if text is not None]
    for text, day in zip((start, end), times, strict=False):
        if day is None:
            yield Finding(
                "maintenance-exclusion",
                f"{text} is not a date",
                allowed="YYYY-MM-DD, in UTC",
                fix="for example '2026-12-18'",
            )
    first, last = times[0], times[1] if end is not None else None
    if first and last and last <= first:
        yield Finding(
            "maintenance-exclusion", f"the end, {end}, is not after the start, {start}", fix="swap start and end"
        )
    if scope != "NO_UPGRADES":
        return
    if end is None:
        yield Finding(
            "maintenance-exclusion",
            "NO_UPGRADES needs an end: only minor upgrades can be excluded until the end of support",
            allowed="an end, or scope NO_MINOR_UPGRADES or NO_MINOR_OR_NODE_UPGRADES",
            fix="add an end",
        )
    elif first and last and last - first > LONGEST_WITHOUT_UPGRADES:
        yield Finding(
            "maintenance-exclusion",
            f"NO_UPGRADES for {(last - first).days} days: GKE requires {LEAST_HOURS} hours of maintenance in 32 days",
            allowed=f"at most {LONGEST_WITHOUT_UPGRADES.days} days",
            fix="shorten it, or use scope NO_MINOR_OR_NODE_UPGRADES",
            severity="warning",
        )


def _day(text: str) -> date | None:
    try:
        # Python accepts other ISO forms, too; Google's timestamps are built from this one.
        return date.fromisoformat(text) if DAY.fullmatch(text) else None
    except ValueError:
        return None


def exclusions(names: Sequence[str]) -> Iterator[Finding]:
    """Exclusions have unique names, and there are at most 20 of them."""
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Finding(
            "maintenance-exclusion", f"two exclusions have the name {name}", fix="give each exclusion a unique name"
        )
    if len(names) > MOST_EXCLUSIONS:
        yield Finding(
            "maintenance-exclusion",
            f"{len(names)} exclusions",
            allowed=f"at most {MOST_EXCLUSIONS}",
            fix="remove exclusions that have ended",
        )
