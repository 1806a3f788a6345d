"""What a report of the Gateway API's conformance tests implies for each test.

It counts tests and names features; a test passes if every feature that it needs is supported, and does not pass if one
of them is not. GKE's report is a file in the Go module of the suite, Istio's came after the module's version.
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


_ISTIO = """
BackendTLSPolicy BackendTLSPolicySANValidation GatewayAddressEmpty GatewayFrontendClientCertificateValidation
GatewayFrontendClientCertificateValidationInsecureFallback GatewayHTTPListenerIsolation
GatewayInfrastructurePropagation GatewayPort8080 GatewayStaticAddresses HTTPRoute303RedirectStatusCode
HTTPRoute307RedirectStatusCode HTTPRoute308RedirectStatusCode HTTPRouteBackendProtocolH2C
HTTPRouteBackendProtocolWebSocket HTTPRouteBackendRequestHeaderModification HTTPRouteBackendTimeout HTTPRouteCORS
HTTPRouteDestinationPortMatching HTTPRouteHostRewrite HTTPRouteMethodMatching HTTPRouteNamedRouteRule
HTTPRouteParentRefPort HTTPRoutePathRedirect HTTPRoutePathRewrite HTTPRoutePortRedirect HTTPRouteQueryParamMatching
HTTPRouteRequestMirror HTTPRouteRequestMultipleMirrors HTTPRouteRequestPercentageMirror HTTPRouteRequestTimeout
HTTPRouteResponseHeaderModification HTTPRouteRetry HTTPRouteRetryBackendTimeout HTTPRouteRetryConnectionError
HTTPRouteSchemeRedirect ListenerSet
"""
ISTIO = Report(
    frozenset(_ISTIO.split()),
    frozenset({"GatewayBackendClientCertificate", "GatewayHTTPSListenerDetectMisdirectedRequests"}),
)
"""Of 1.31.0, profile GATEWAY-HTTP with 37 core and 54 extended tests, run on the experimental channel's CRDs
(kubernetes-sigs/gateway-api @717ec13d ``conformance/reports/v1.6/istio-istio/1.31.0-default-report.yaml``)."""


def gkes(module: Path) -> Report:
    """GKE's report in an unpacked module. Raises ``OSError`` where it is missing."""
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
