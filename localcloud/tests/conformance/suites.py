"""Upstream's conformance suites, run in a laptop cloud against the Gateways of a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from localcloud import binaries
from localcloud.tests.conformance import results
from localcloud.tests.conformance.results import SuiteTest, Verdict
from localcloud.tests.real_kubernetes.harness import Laptop

PROGRAMS = ("echo-basic", "gateway-conformance", "inference-conformance")
SUITE_SECONDS = 1800

TIMEOUTS = """
timeoutConfig:
  gatewayMustHaveAddress: {0}s
  gatewayMustHaveCondition: {0}s
  gatewayStatusMustHaveListeners: {0}s
  gatewayListenersMustHaveConditions: {0}s
  httpRouteMustNotHaveParents: {0}s
  httpRouteMustHaveCondition: {0}s
  routeMustHaveParents: {0}s
  latestObservedGenerationSet: {0}s
  defaultTestTimeout: {0}s
  maxTimeToConsistency: {0}s
"""
"""What GKE needs minutes for happens here within a second; a test that fails waits for all of it."""


@dataclass(frozen=True)
class Suites:
    """The suites for a GatewayClass; ``flags`` are more of the Gateway API's."""

    laptop: Laptop
    gateway_class: str
    flags: tuple[str, ...] = ()

    def tests(self) -> list[SuiteTest]:
        """All tests of the Gateway API."""
        return results.tests(self.laptop.inside(str(binaries.path("gateway-conformance")), "tests").stdout)

    def gateway_api(self, left_out: Sequence[SuiteTest], features: frozenset[str], seconds: int) -> dict[str, Verdict]:
        """The verdicts on all other tests that need no further features, asked as GKE asks for its reports."""
        options = self.laptop.folder / "conformance.yaml"
        options.write_text(TIMEOUTS.format(seconds))
        return self._run(
            "gateway-conformance",
            f"-conformance-options-file={options}",
            "-conformance-profiles=GATEWAY-HTTP",
            f"-supported-features={','.join(sorted(features))}",
            f"-skip-tests={','.join(test.name for test in left_out)}",
            *self.flags,
        )

    def inference(self) -> dict[str, Verdict]:
        """The verdicts on the inference extension, whose suite is written against CRDs of an older Gateway API."""
        return self._run("inference-conformance", "-allow-crds-mismatch")

    def _run(self, program: str, *flags: str) -> dict[str, Verdict]:
        # The next run would meet namespaces that are being deleted.
        kept = "-cleanup-base-resources=false"
        common = ("-test.v", f"-test.timeout={SUITE_SECONDS}s", f"-gateway-class={self.gateway_class}", kept)
        command = (str(binaries.path(program)), *common, *flags)
        printed = self.laptop.inside(*command, check=False, timeout=SUITE_SECONDS + 60).stdout
        with (self.laptop.folder / f"{program}.log").open("a") as log:
            log.write(printed)
        return results.verdicts(printed)
