"""Upstream's conformance suites against the laptop cloud's gateway; against Istio's: ``test_istio.py``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from llmd_gke.catalog import versions
from localcloud.gke_gateway.crds.upstream import GATEWAY_API
from localcloud.go_builds import modules
from localcloud.tests.conformance import oracle, reasons, suites
from localcloud.tests.real_kubernetes.harness import Laptop
from localcloud.tests.real_kubernetes.programs import skip_unless_built


def test_every_verdict_that_differs_from_gkes_has_a_reason(bare: Laptop) -> None:
    """Skipped where the suites are not built: ``.ci/full conformance`` builds them."""
    skip_unless_built(suites.PROGRAMS)
    asked = suites.Suites(bare, "gke-l7-regional-external-managed")
    every, report = asked.tests(), oracle.gkes(modules.folder(oracle.MODULE, versions.program(GATEWAY_API)))
    supported = [test for test in every if report.expected(test) == "passes"]
    others = [test for test in every if report.expected(test) == "fails"]
    assert len(supported) > 40, supported
    with ThreadPoolExecutor(1) as beside:  # it has namespaces and Gateways of its own
        running = beside.submit(asked.inference)
        # Two runs: a refused route freezes its Gateway, which tests share, until it is gone.
        actual = asked.gateway_api(others, report.supported, seconds=30)
        more = asked.gateway_api(supported, report.supported | report.unsupported, seconds=10)
        inference = running.result()
    actual |= {test.name: more[test.name] for test in others}
    assert oracle.differences(every, report, actual) == {*reasons.GKE}
    assert {name for name, verdict in inference.items() if verdict != "passes"} == {*reasons.GKE_INFERENCE}
