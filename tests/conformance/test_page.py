"""The page about conformance: every difference has a reason."""

from __future__ import annotations

import re

import pytest

from tests.conformance import page, reasons
from tests.conformance.oracle import Report, Row
from tests.conformance.results import SuiteTest

REPORT = Report("1.35.2", frozenset(), frozenset({"HTTPRouteNamedRouteRule"}))
NAMED = SuiteTest("HTTPRouteNamedRule", frozenset({"Gateway", "HTTPRouteNamedRouteRule"}))
SAME = Row(SuiteTest("HTTPRouteWeight", frozenset({"Gateway"})), "passes", "passes")


def test_a_difference_is_listed_with_its_reason() -> None:
    text = page.text(REPORT, [SAME, Row(NAMED, "fails", "passes")], 3, {"EppUnAvailableFailOpen": "passes"})
    assert f"| `HTTPRouteNamedRule` | does not pass | passes | {reasons.GATEWAY_API['HTTPRouteNamedRule']} |" in text
    assert "| says anything about | 2 | 1 (50.0 %) |" in text
    assert "1 of 1 tests pass" in text


@pytest.mark.parametrize("row", [Row(SuiteTest("New", frozenset({"Gateway"})), "passes", "fails")])
def test_a_difference_without_a_reason_is_refused(row: Row) -> None:
    with pytest.raises(KeyError):
        page.text(REPORT, [row], 0, {})


def test_the_page_agrees_with_the_report_for_more_than_nineteen_tests_in_twenty() -> None:
    share = re.search(r"\| says anything about \| \d+ \| \d+ \(([\d.]+) %\) \|", page.PAGE.read_text(encoding="utf-8"))
    assert share is not None
    assert float(share[1]) >= 95
