"""What a report implies for a test, and what a suite's output says."""

from __future__ import annotations

import pytest

from localcloud.tests.conformance import oracle, results
from localcloud.tests.conformance.oracle import Report
from localcloud.tests.conformance.results import SuiteTest

REPORT = Report("1.35.2", frozenset({"GatewayPort8080"}), frozenset({"HTTPRouteCORS", "ListenerSet"}))


def needs(*features: str) -> SuiteTest:
    return SuiteTest("Some", frozenset(features))


@pytest.mark.parametrize(
    ("test", "verdict"),
    [
        (needs("Gateway", "HTTPRoute"), "passes"),
        (needs("Gateway", "GatewayPort8080"), "passes"),
        (needs("Gateway", "GatewayPort8080", "HTTPRouteCORS"), "fails"),
        (needs("Gateway", "GRPCRoute"), None),
        (needs("Mesh", "HTTPRoute", "HTTPRouteCORS"), None),
    ],
)
def test_a_report_says_what_happens_to_a_test_by_the_features_that_it_needs(
    test: SuiteTest, verdict: str | None
) -> None:
    assert REPORT.expected(test) == verdict


def test_a_test_that_the_suite_left_out_is_no_agreement() -> None:
    (row,) = oracle.compare([needs("Gateway"), needs("GRPCRoute")], REPORT, {})
    assert (row.expected, row.actual, row.agrees) == ("passes", "skipped", False)


def test_verdicts_are_those_of_whole_tests_not_of_their_parts() -> None:
    printed = (
        "=== RUN   TestConformance\n"
        "--- FAIL: TestConformance (30.07s)\n"
        "    --- PASS: TestConformance/HTTPRouteWeight (1.55s)\n"
        "        --- PASS: TestConformance/HTTPRouteWeight/Requests (1.00s)\n"
        "    --- FAIL: TestConformance/HTTPRouteCORS (10.14s)\n"
        "        --- PASS: TestConformance/HTTPRouteCORS/part (0.00s)\n"
        "    --- SKIP: TestConformance/UDPRoute (0.00s)\n"
    )
    assert results.verdicts(printed) == {"HTTPRouteWeight": "passes", "HTTPRouteCORS": "fails", "UDPRoute": "skipped"}


def test_a_suite_that_could_not_begin_is_an_error_and_no_verdict() -> None:
    with pytest.raises(ValueError, match="error loading Kubernetes config"):
        results.verdicts("--- FAIL: TestConformance (0.01s)\n    error loading Kubernetes config\n")
