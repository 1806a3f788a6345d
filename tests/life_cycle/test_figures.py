"""The part of the page of figures that counts life cycles."""

from __future__ import annotations

from datetime import date
from typing import Any

from tests.life_cycle import figures


def result(seed: int, **over: Any) -> dict[str, Any]:
    return {"seed": seed, "steps": 5, "seconds": 90.0, "wrong": [], "by_hand": 1, "met": {"drop": 1}, **over}


def test_the_last_result_of_each_seed_counts() -> None:
    results = [result(1, wrong=["bad"]), result(2, met={"drop": 1, "quota": 2}), result(1)]
    text = figures.section(results, "2 cores", date(2026, 1, 31))
    for row in (
        "| seeds | 2 |",
        "| - drop | 2 |",
        "| - quota | 2 |",
        "| faults and kills met | 4 |",
        "| seeds in which something was wrong when they were played | none |",
    ):
        assert row in text
    assert "Written 2026-01-31 on 2 cores." in text


def test_a_seed_that_fails_is_named() -> None:
    assert "| seeds in which something was wrong when they were played | 3 |" in figures.section(
        [result(3, wrong=["bad"])], "here", date(2026, 1, 31)
    )


def test_what_a_reader_has_to_know_is_on_the_page() -> None:
    assert "\nPlayed on two versions.\n" in figures.section([], "here", date(2026, 1, 31), "Played on two versions.")
