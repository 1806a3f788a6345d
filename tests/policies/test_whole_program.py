"""Rules about the whole program judge inputs, and say what they could not see."""

from __future__ import annotations

import dataclasses

from pulumi.runtime.proto import analyzer_pb2

from policies.pack import Analyzer
from tests.policies.objects import GOOD_CHECK, GOOD_ROUTE, GOOD_TIMEOUT
from tests.policies.support import UNKNOWN, Resource, of, replaced, resources, run_pack, written


def one(text: str, name: str) -> Resource:
    return dataclasses.replace(resources(written(text))[0], name=name)


ROUTE, CHECK, TIMEOUT = one(GOOD_ROUTE, "route"), one(GOOD_CHECK, "check"), one(GOOD_TIMEOUT, "timeout")
HELM = "kubernetes:helm.sh/v3:Release"


def test_the_violation_is_reported_on_the_route_although_outputs_are_empty() -> None:
    diagnostics = of(run_pack([ROUTE, TIMEOUT]), "health-check-missing")
    assert [(one.level, one.urn) for one in diagnostics] == [("MANDATORY", ROUTE.urn)]


def test_a_policy_whose_target_is_unknown_may_be_the_missing_one() -> None:
    unknown = dataclasses.replace(CHECK, inputs=replaced(CHECK.inputs, "spec.targetRef.name", UNKNOWN))
    diagnostics = of(run_pack([ROUTE, unknown]), "health-check-missing")
    assert {one.level for one in diagnostics} == {"ADVISORY"}
    assert "not known yet" in diagnostics[0].text


def test_a_chart_that_may_hold_the_policy_makes_the_verdict_unsure() -> None:
    chart = Resource(HELM, "router", {"chart": "oci://example.com/llm-d-router-gateway", "namespace": "models"})
    diagnostics = of(run_pack([ROUTE, chart]), "health-check-missing")
    assert {one.level for one in diagnostics} == {"ADVISORY"}
    assert "does not show its objects" in diagnostics[0].text


def test_the_platform_charts_hold_no_policies() -> None:
    chart = Resource(HELM, "lws", {"chart": "oci://registry.k8s.io/lws/charts/lws", "version": "0.9.0"})
    assert of(run_pack([ROUTE, chart]), "health-check-missing", "MANDATORY")


def test_a_policy_in_another_namespace_does_not_count() -> None:
    elsewhere = dataclasses.replace(CHECK, inputs=replaced(CHECK.inputs, "metadata.namespace", "other"))
    assert of(run_pack([ROUTE, elsewhere]), "health-check-missing", "MANDATORY")


def test_a_resource_shown_twice_counts_once() -> None:
    assert of(run_pack([ROUTE, CHECK, CHECK, ROUTE]), "one-policy-per-target") == []


def test_a_resource_that_was_never_shown_is_said_and_not_guessed() -> None:
    server = Analyzer()
    whole = analyzer_pb2.AnalyzeStackRequest(
        resources=[analyzer_pb2.AnalyzerResource(type=ROUTE.type, urn=ROUTE.urn, name=ROUTE.name)]
    )
    diagnostics = server.AnalyzeStack(whole, None).diagnostics
    missing = [one for one in diagnostics if one.policyName == "health-check-missing"]
    assert [one.enforcementLevel for one in missing] == [analyzer_pb2.ADVISORY]
    assert "was not shown" in missing[0].message
