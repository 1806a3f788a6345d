"""Hours of a model: their form, what cron makes of them, and what is rejected."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime

import pytest

from llmd_gke.rules import schedule

WORK = "Mon-Fri 08:00-18:00"


@pytest.mark.parametrize(
    ("text", "cron"),
    [
        (WORK, ("0 8 * * 1,2,3,4,5", "0 18 * * 1,2,3,4,5")),
        ("Sat 09:30-12:05", ("30 9 * * 6", "5 12 * * 6")),
        ("Fri-Sun 22:00-24:00", ("0 22 * * 0,5,6", "0 0 * * 0,1,6")),
        ("Mon 00:00-24:00", ("0 0 * * 1", "0 0 * * 2")),
    ],
)
def test_hours_become_a_start_and_an_end_of_cron(text: str, cron: tuple[str, str]) -> None:
    hours = schedule.read(text)
    assert hours is not None
    assert hours.cron == cron
    assert hours.cron[0] != hours.cron[1], "KEDA rejects hours whose start is their end"
    assert list(schedule.hours(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "08:00-18:00",
        "Mo-Fr 08:00-18:00",
        "Mon - Fri 08:00-18:00",
        "mon 08:00-18:00",
        "Mon 8:00-18:00",
        "Mon 08:60-18:00",
        "Mon 08:00-18:60",
        "Mon 08:00-24:01",
        "Mon 25:00-26:00",
        "Mon 08:00-18:00 ",
        "Mon 08:00",
    ],
)
def test_other_forms_are_rejected_with_an_example(text: str) -> None:
    (finding,) = schedule.hours(text)
    assert "is not a range of hours" in finding.problem
    assert (finding.fix, "HH:MM-HH:MM" in finding.allowed) == (schedule.EXAMPLE, True)


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("Fri 22:00-06:00", "Fri 22:00-24:00 and Sat 00:00-06:00"),
        ("Mon-Fri 20:00-06:30", "Mon-Fri 20:00-24:00 and Tue-Sat 00:00-06:30"),
        ("Sat 08:00-08:00", "Sat 08:00-24:00 and Sun 00:00-08:00"),
    ],
)
def test_hours_over_midnight_are_two_entries(text: str, entries: str) -> None:
    (finding,) = schedule.hours(text)
    assert "ends before it starts" in finding.problem
    assert finding.fix == f"two entries for hours over midnight: {entries}"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([WORK], ""),
        ([WORK, "Sat 08:00-18:00"], ""),
        ([WORK, "Mon-Fri 18:00-20:00"], ""),
        (["Fri 22:00-24:00", "Sat 00:00-06:00"], ""),
        ([WORK, "Wed 17:00-20:00"], "'Wed 17:00-20:00' overlaps another entry from Wed 17:00 on"),
        ([WORK, WORK], "overlaps another entry from Mon 08:00 on"),
        (["Sat-Mon 08:00-09:00", "Sun 08:30-12:00"], "from Sun 08:30 on"),
        ([], "the model would never run"),
        (["Mon-Sun 00:00-24:00"], "the hours are the whole week"),
        (["Sun-Sat 00:00-12:00", "Sun-Sat 12:00-24:00"], "the hours are the whole week"),
    ],
)
def test_hours_that_overlap_are_none_or_are_all_are_rejected(texts: list[str], message: str) -> None:
    problems = [finding.problem for finding in schedule.overlap(texts)]
    assert len(problems) == bool(message)
    assert all(message in problem for problem in problems)
    assert all(finding.fix for finding in schedule.overlap(texts))


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Europe/Amsterdm", "Europe/Amsterdam"),
        ("CEST!", ""),
        ("../../x", ""),
        ("localtime", ""),
        ("", "Europe/Amsterdam"),
    ],
)
def test_a_zone_that_is_not_in_the_database_is_rejected(name: str, near: str) -> None:
    (finding,) = schedule.time_zone(name)
    assert finding.problem == f"{name!r} is not a time zone"
    assert finding.fix.startswith("timeZone: ")
    assert near in finding.fix
    assert list(schedule.time_zone("Europe/Amsterdam")) == list(schedule.time_zone("UTC")) == []


def test_a_machine_without_time_zones_judges_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zoneinfo, "available_timezones", set[str])
    assert list(schedule.time_zone("Europe/Amsterdm")) == []
    assert schedule.is_open("Europe/Amsterdm", [WORK], datetime(2026, 11, 22, tzinfo=UTC))


@pytest.mark.parametrize(
    ("now", "is_open"),
    [
        ("2026-11-23T06:59:00+00:00", False),
        ("2026-11-23T07:00:00+00:00", True),
        ("2026-11-23T16:59:00+00:00", True),
        ("2026-11-23T17:00:00+00:00", False),
        ("2026-07-06T06:00:00+00:00", True),
        ("2026-11-22T12:00:00+00:00", False),
    ],
)
def test_hours_are_those_of_the_zone_in_summer_and_winter(now: str, is_open: bool) -> None:
    assert schedule.is_open("Europe/Amsterdam", [WORK], datetime.fromisoformat(now)) is is_open
