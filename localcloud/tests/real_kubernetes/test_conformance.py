"""Upstream's conformance suites against the laptop cloud's gateway."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from llmd_gke.catalog import versions
from localcloud import binaries
from localcloud.gke_gateway.crds.upstream import GATEWAY_API
from localcloud.go_builds import modules
from localcloud.tests.conformance import oracle, reasons, results
from localcloud.tests.conformance.results import SuiteTest, Verdict
from localcloud.tests.real_kubernetes.harness import Laptop
from localcloud.tests.real_kubernetes.programs import skip_unless_built

PROGRAMS = ("echo-basic", "gateway-conformance", "inference-conformance")
GATEWAY_CLASS = "gke-l7-regional-external-managed"
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


@pytest.fixture(scope="session")
def built() -> None:
    """The suites are built; skipped where they are not: ``.ci/full conformance`` builds them."""
    skip_unless_built(PROGRAMS)


def run(laptop: Laptop, program: str, *flags: str) -> dict[str, Verdict]:
    """Runs a suite with those flags and returns the verdict on each of its tests."""
    # The next run would meet namespaces that are being deleted.
    kept = "-cleanup-base-resources=false"
    common = ("-test.v", f"-test.timeout={SUITE_SECONDS}s", f"-gateway-class={GATEWAY_CLASS}", kept)
    command = (str(binaries.path(program)), *common, *flags)
    printed = laptop.inside(*command, check=False, timeout=SUITE_SECONDS + 60).stdout
    with (laptop.folder / f"{program}.log").open("a") as log:
        log.write(printed)
    return results.verdicts(printed)


def of_gateway_api(
    laptop: Laptop, left_out: Sequence[SuiteTest], features: frozenset[str], seconds: int
) -> Mapping[str, Verdict]:
    """The verdicts on all other tests that need no further features, asked as GKE asks for its reports."""
    options = laptop.folder / "conformance.yaml"
    options.write_text(TIMEOUTS.format(seconds))
    return run(
        laptop,
        "gateway-conformance",
        f"-conformance-options-file={options}",
        "-conformance-profiles=GATEWAY-HTTP",
        f"-supported-features={','.join(sorted(features))}",
        f"-skip-tests={','.join(test.name for test in left_out)}",
    )


@pytest.mark.usefixtures("built")
def test_every_verdict_that_differs_from_gkes_has_a_reason(bare: Laptop) -> None:
    every = results.tests(bare.inside(str(binaries.path("gateway-conformance")), "tests").stdout)
    module = modules.folder(oracle.MODULE, versions.program(GATEWAY_API))
    report = oracle.read(module)
    supported = [test for test in every if report.expected(test) == "passes"]
    others = [test for test in every if report.expected(test) == "fails"]
    assert len(supported) > 40, supported
    with ThreadPoolExecutor(1) as beside:  # it has namespaces and Gateways of its own
        # Its suite is written against the CRDs of an older Gateway API.
        running = beside.submit(run, bare, "inference-conformance", "-allow-crds-mismatch")
        # Two runs: a refused route freezes its Gateway, which tests share, until it is gone.
        actual = dict(of_gateway_api(bare, others, report.supported, seconds=30))
        more = of_gateway_api(bare, supported, report.supported | report.unsupported, seconds=10)
        inference = running.result()
    actual |= {test.name: more[test.name] for test in others}
    assert oracle.differences(every, report, actual) == {*reasons.GATEWAY_API}
    assert {name for name, verdict in inference.items() if verdict != "passes"} == {*reasons.INFERENCE}
