"""``docs/contributing/conformance.md``: what the conformance suites found. It changes only where a verdict does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from llmd_gke.catalog import versions
from llmd_gke.repository import CLONE
from localcloud.tests.conformance import oracle, reasons
from localcloud.tests.conformance.oracle import Report, Row
from localcloud.tests.conformance.results import SuiteTest, Verdict

PAGE: Path = CLONE / "docs" / "contributing" / "conformance.md"
WRITE = "PYTEST_ADDOPTS=--rewrite .ci/full conformance"
"""The command that writes the page instead of comparing it."""


def text(report: Report, rows: Sequence[Row], uncounted: int, inference: Mapping[str, Verdict]) -> str:
    """The page. ``uncounted``: tests of the Gateway API about which the report says nothing.

    Raises ``KeyError`` for a difference without a reason in ``reasons.py``.
    """
    return (
        "\n\n".join(
            [
                "# Conformance",
                f"Made by a run of the suites (`{WRITE}`), not by hand. "
                "`.ci/full conformance`\nruns them again and fails where a verdict is no longer the one on this page.",
                *_gateway_api(report, rows, uncounted),
                *_inference(inference),
                "",
            ]
        ).rstrip()
        + "\n"
    )


def _gateway_api(report: Report, rows: Sequence[Row], uncounted: int) -> list[str]:
    different = [row for row in rows if not row.agrees]
    supported = [row for row in rows if row.expected == "passes"]
    same = len(rows) - len(different)
    newer = [row for row in rows if row.expected == "fails" and row.test.features & oracle.NEWER_FEATURES]
    return [
        "## Gateway API",
        f"The conformance tests of Gateway API {versions.program('sigs.k8s.io/gateway-api')} (profile GATEWAY-HTTP) "
        "run against the laptop cloud's gateway,\nclass `gke-l7-regional-external-managed`. They are compared with the "
        f"report that GKE published for {report.version}\n(`{oracle.REPORT}` in the suite's Go module). A report "
        "counts tests and\nnames features: a test whose features are all supported passes on GKE. One that needs an "
        "unsupported feature is\nexpected to fail; upstream skips it, here it runs nevertheless. That is the weaker "
        "half: a feature that GKE\ndoes not claim may still work there.",
        _table(
            ("Tests that the report", "Number", "Same verdict here"),
            [
                ("implies to pass", str(len(supported)), str(sum(row.agrees for row in supported))),
                (
                    "implies not to pass",
                    str(len(rows) - len(supported)),
                    str(sum(row.agrees for row in rows if row.expected == "fails")),
                ),
                ("says anything about", str(len(rows)), f"{same} ({100 * same / len(rows):.1f} %)"),
            ],
        ),
        f"{uncounted} tests of other kinds of routes, of meshes, and of features newer than the report, were not run.",
        "### Differences",
        _table(
            ("Test", "The report implies", "Here", "Why"),
            [
                (f"`{row.test.name}`", _expectation(row.expected), row.actual, reasons.GATEWAY_API[row.test.name])
                for row in different
            ],
        )
        if different
        else "None.",
        "### A newer report",
        f"GKE 1.36.2 [claims]({oracle.NEWER}) five features more: "
        + ", ".join(f"`{name}`" for name in sorted(oracle.NEWER_FEATURES))
        + ".\nThe module does not hold that report yet, and a new cluster asks for GKE "
        f"{versions.gke_default()}. Of the {len(newer)} tests that need one of them\n"
        f"{sum(row.actual == 'passes' for row in newer)} passes here. The others are a limit of this gateway: it "
        "does not serve BackendTLSPolicy, and does not validate\nclient certificates.",
    ]


def _inference(verdicts: Mapping[str, Verdict]) -> list[str]:
    passed = sum(one == "passes" for one in verdicts.values())
    return [
        "## Inference extension",
        "The suite of the Gateway API Inference Extension "
        f"{versions.program('sigs.k8s.io/gateway-api-inference-extension')}, with the endpoint picker that is built "
        "here and the echo server\nas model servers. GKE has published no report for version 1 of InferencePool, so "
        f"there is nothing to compare with:\n{passed} of {len(verdicts)} tests pass.",
        "Go's checksum database does not contain the module, nor the picker's. Both were compared with upstream's "
        "repository, file by\nfile, when they were pinned: they are commit `df9f8909fe06` (tags `v1.5.0` and "
        "`conformance/v1.5.0`). Their hashes are in\n`go.sum`, and a build refuses anything else.",
        _table(
            ("Test", "Here", "Why not"),
            [
                (f"`{name}`", verdict, "" if verdict == "passes" else reasons.INFERENCE[name])
                for name, verdict in sorted(verdicts.items())
            ],
        ),
    ]


def _expectation(expected: Verdict) -> str:
    return "passes" if expected == "passes" else "does not pass"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def uncounted(suite: Sequence[SuiteTest], report: Report) -> int:
    """How many tests the report says nothing about."""
    return sum(report.expected(test) is None for test in suite)
