"""What GKE's own report of the Gateway API's conformance tests implies for each test.

The report is upstream's file, in the Go module of the suite. It counts tests and names features; a test passes on GKE
if every feature that it needs is supported, and does not pass if one of them is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from localcloud.tests.conformance.results import SuiteTest, Verdict

MODULE = "sigs.k8s.io/gateway-api/conformance"
REPORT = "reports/v1.5/gke-gateway/v1.5.0-gke-report.yaml"
"""GKE's newest report in the module; upstream's repository has one for GKE 1.36.2."""

CORE = frozenset({"Gateway", "HTTPRoute", "ReferenceGrant"})
"""Core features of the profile GATEWAY-HTTP (``conformance/utils/suite/profiles.go``): each implementation has them."""


@dataclass(frozen=True)
class Report:
    """The features beyond the core ones."""

    supported: frozenset[str]
    unsupported: frozenset[str]

    def expected(self, test: SuiteTest) -> Verdict | None:
        """The verdict that the report implies; ``None`` for a test with a feature that the report does not list."""
        if not test.features <= CORE | self.supported | self.unsupported:
            return None
        return "passes" if test.features <= CORE | self.supported else "fails"


def read(module: Path) -> Report:
    """The report in an unpacked module. Raises ``OSError`` where it is missing."""
    content: dict[str, Any] = yaml.safe_load((module / REPORT).read_text(encoding="utf-8"))
    (profile,) = (one for one in content["profiles"] if one["name"] == "GATEWAY-HTTP")
    extended = profile["extended"]
    return Report(
        frozenset(extended["supportedFeatures"]),
        frozenset(extended["unsupportedFeatures"]),
    )


def differences(suite: Sequence[SuiteTest], report: Report, actual: Mapping[str, Verdict]) -> set[str]:
    """The tests whose verdict is not the one that the report implies. A test without a verdict was skipped."""
    return {test.name for test in suite if report.expected(test) not in (None, actual.get(test.name, "skipped"))}
