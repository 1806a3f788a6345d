"""Rules about the working hours of a model, and what they mean to KEDA's cron scaler.

Source: kedacore/keda v2.21.0 ``pkg/scalers/cron_scaler.go``: five fields without names of days here, a time zone of the
IANA database, start and end never the same; within the hours it asks for ``desiredReplicas``.
"""

from __future__ import annotations

import difflib
import re
import zoneinfo
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from llmd_gke.rules.finding import Finding

DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
"""By the number that cron gives a day."""
EXAMPLE = "Mon-Fri 08:00-18:00"
MINUTES_OF_DAY = 24 * 60
HOURS_OF_WEEK = 7 * 24
_FORM = re.compile(
    r"(?P<first>[A-Z][a-z]{2})(?:-(?P<last>[A-Z][a-z]{2}))? (?P<h1>\d\d):(?P<m1>\d\d)-(?P<h2>\d\d):(?P<m2>\d\d)"
)


@dataclass(frozen=True)
class Hours:
    """Hours on some days of the week (0: Sunday), from ``start`` to ``end``, in minutes of the day."""

    days: tuple[int, ...]
    start: int
    end: int

    @property
    def minutes_of_week(self) -> set[int]:
        """Every minute of the week within the hours, from Sunday 00:00 on."""
        return {day * MINUTES_OF_DAY + minute for day in self.days for minute in range(self.start, self.end)}

    @property
    def cron(self) -> tuple[str, str]:
        """Start and end for cron. 24:00 is 00:00 of the next day."""
        later = self.end == MINUTES_OF_DAY
        ends = tuple(sorted((day + later) % 7 for day in self.days))
        return _cron(self.start, self.days), _cron(0 if later else self.end, ends)


def _cron(minute: int, days: Sequence[int]) -> str:
    return f"{minute % 60} {minute // 60} * * {','.join(str(day) for day in days)}"


def read(text: str) -> Hours | None:
    """Hours such as ``Mon-Fri 08:00-18:00``; ``None`` for another form, an unknown day, or an end before the start."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    first, last = match["first"], match["last"] or match["first"]
    if first not in DAYS or last not in DAYS:
        return None
    begin, length = DAYS.index(first), (DAYS.index(last) - DAYS.index(first)) % 7
    start, end = (int(match[f"h{part}"]) * 60 + int(match[f"m{part}"]) for part in (1, 2))
    if int(match["m1"]) > 59 or int(match["m2"]) > 59 or not start < end <= MINUTES_OF_DAY:
        return None
    return Hours(tuple(sorted((begin + step) % 7 for step in range(length + 1))), start, end)


def minutes_of_week(texts: Sequence[str]) -> set[int]:
    """Every minute of the week within one of the hours; texts that :func:`read` rejects count as none."""
    return {minute for text in texts if (hours := read(text)) for minute in hours.minutes_of_week}


def is_open(time_zone: str, texts: Sequence[str], now: datetime) -> bool:
    """Whether ``now``, which has a time zone, is within the hours of ``time_zone``; true where that is not known."""
    try:
        local = now.astimezone(zoneinfo.ZoneInfo(time_zone))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return True
    minute = (local.isoweekday() % 7) * MINUTES_OF_DAY + local.hour * 60 + local.minute
    return minute in minutes_of_week(texts)


OF_A_MACHINE = frozenset({"Factory", "localtime", "posixrules"})
"""Files beside the time zones that mean a different zone, or none, on each machine."""


def time_zone(name: str) -> Iterator[Finding]:
    """The time zone is one of the IANA database. Where a machine has no such database, every name passes."""
    names = zoneinfo.available_timezones() - OF_A_MACHINE
    if not names or name in names:
        return
    near = difflib.get_close_matches(name, sorted(names), n=1)
    yield Finding(
        "schedule",
        f"{name!r} is not a time zone",
        allowed="a name of the IANA database, such as Europe/Amsterdam or UTC",
        fix=f"timeZone: {near[0] if near else 'Europe/Amsterdam'}",
    )


def hours(text: str) -> Iterator[Finding]:
    """The hours have the form of :data:`EXAMPLE`, and end after they start."""
    if read(text) is not None:
        return
    first, next_day = re.sub(r"-[\d:]+$", "-24:00", text), _next_day(text)
    over_midnight = read(first) is not None and read(next_day) is not None
    yield Finding(
        "schedule",
        f"{text!r} {'ends before it starts' if over_midnight else 'is not a range of hours on days of the week'}",
        allowed=f"DAY or DAY-DAY ({', '.join(DAYS)}), then HH:MM-HH:MM up to 24:00",
        fix=f"two entries for hours over midnight: {first} and {next_day}" if over_midnight else EXAMPLE,
    )


def _next_day(text: str) -> str:
    """The part of hours over midnight that is on the next day."""
    days, _, times = text.partition(" ")
    later = "-".join(DAYS[DAYS.index(day) - 6] if day in DAYS else day for day in days.split("-"))
    return f"{later} 00:00-{times.partition('-')[2]}"


def overlap(texts: Sequence[str]) -> Iterator[Finding]:
    """No minute is in two entries, some are in one, and some in none: a model that never rests needs no schedule."""
    if not texts:
        yield Finding(
            "schedule",
            "there are no hours, so the model would never run",
            allowed=f"at least one entry such as {EXAMPLE}",
            fix="stopped: true instead of schedule, or add hours",
        )
    seen: set[int] = set()
    for text in texts:
        own = minutes_of_week([text])
        if own & seen:
            minute = min(own & seen)
            when = f"{DAYS[minute // MINUTES_OF_DAY]} {minute % MINUTES_OF_DAY // 60:02}:{minute % 60:02}"
            yield Finding(
                "schedule", f"{text!r} overlaps another entry from {when} on", fix="merge both entries, or shorten one"
            )
        seen |= own
    if len(seen) == 7 * MINUTES_OF_DAY:
        yield Finding("schedule", "the hours are the whole week", fix="remove schedule: the model always runs then")


def needs_keda(source: str, *, autoscaled: bool) -> Iterator[Finding]:
    """Hours belong to autoscaled models, and KEDA is what follows them. ``source`` of the load: ``keda`` or ``gke``."""
    if not autoscaled:
        yield Finding(
            "schedule",
            "schedule has no effect on a fixed number of replicas: KServe writes it back at once",
            allowed="schedule beside minReplicas and maxReplicas",
            fix="minReplicas and maxReplicas of the same number instead of replicas",
        )
    elif source != "keda":
        yield Finding(
            "schedule",
            "GKE's managed metrics adapter does not support schedules; KEDA does",
            allowed="schedule with scaling.source: keda",
            fix="scaling: {source: keda}",
        )
