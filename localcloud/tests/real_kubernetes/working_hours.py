"""Working hours around the present time, on the clock of this machine."""

from __future__ import annotations

from datetime import datetime, timedelta

from llmd_gke.rules import schedule


def around_noon(now: datetime) -> tuple[str, datetime]:
    """A time zone in which it is noon, so that no hours of a test go over midnight; and the time there."""
    offset = 12 - now.hour
    zone = f"Etc/GMT{-offset:+d}" if offset else "Etc/GMT"  # the database's signs are the other way round
    return zone, now + timedelta(hours=offset)


def hours(start: datetime, end: datetime) -> str:
    """As the setting ``schedule.hours`` has them, on the day of ``start``."""
    return f"{schedule.DAYS[start.isoweekday() % 7]} {start:%H:%M}-{end:%H:%M}"
