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
"""GKE's newest report in the module; upstream's repository has one for GKE 1.36.2 (:data:`NEWER_FEATURES`)."""

CORE = frozenset({"Gateway", "HTTPRoute", "ReferenceGrant"})
"""Core features of the profile GATEWAY-HTTP (``conformance/utils/suite/profiles.go``): each implementation has them."""

NEWER = "https://github.com/kubernetes-sigs/gateway-api/blob/4564255ac/conformance/reports/v1.6/gke-gateway"
NEWER_FEATURES = frozenset(
    {
        "BackendTLSPolicy",
        "BackendTLSPolicySANValidation",
        "GatewayBackendClientCertificate",
        "GatewayFrontendClientCertificateValidation",
        "HTTPRouteQueryParamMatching",
    }
)
"""What the report for GKE 1.36.2-gke.2154000 (2026-07-23) lists as supported and the older one does not."""


@dataclass(frozen=True)
class Report:
    """A conformance report: the version of GKE, and the features beyond the core ones."""

    version: str
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
        content["implementation"]["version"],
        frozenset(extended["supportedFeatures"]),
        frozenset(extended["unsupportedFeatures"]),
    )


@dataclass(frozen=True)
class Row:
    """A test with the verdict that the report implies and the one here."""

    test: SuiteTest
    expected: Verdict
    actual: Verdict

    @property
    def agrees(self) -> bool:
        """Whether the two are the same."""
        return self.expected == self.actual


def compare(suite: Sequence[SuiteTest], report: Report, actual: Mapping[str, Verdict]) -> list[Row]:
    """Every test that the report says something about. A test without a verdict was skipped."""
    return [
        Row(test, expected, actual.get(test.name, "skipped"))
        for test in suite
        if (expected := report.expected(test)) is not None
    ]
