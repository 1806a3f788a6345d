"""A namespace that only the cloud will know raises no alarm about a correct program, and the doubt is said."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from policies.groups import ALL
from policies.pack import Analyzer
from policies.rules.llm_inference_service.serving import PRESET
from tests.components.conftest import WITHOUT_DOOR
from tests.graphs import load
from tests.policies.conftest import InStack
from tests.policies.objects import (
    GATEWAY_YAML,
    GOOD_CHECK,
    GOOD_DEFAULT,
    GOOD_ROUTE,
    GOOD_TIMEOUT,
    POOL_YAML,
    policy_yaml,
    service_yaml,
)
from tests.policies.support import UNKNOWN, Diagnostic, Resource, of, recorded, replaced, resources, run_pack, written
from tests.policies.test_configuration import configured

ROOT = Path(__file__).parents[2]
NAMESPACE, NAME = "metadata.namespace", "metadata.name"


def one(text: str, name: str, **changes: object) -> Resource:
    """The object of an example with other values; ``__`` divides the keys of a path."""
    resource = resources(written(text))[0]
    inputs = dict(resource.inputs)
    for path, value in changes.items():
        inputs = replaced(inputs, path.replace("__", "."), value)
    return dataclasses.replace(resource, name=name, inputs=inputs)


def somewhere(resource: Resource) -> Resource:
    return dataclasses.replace(resource, inputs=replaced(resource.inputs, NAMESPACE, UNKNOWN))


def unnamed(resource: Resource) -> Resource:
    return dataclasses.replace(resource, inputs=replaced(resource.inputs, NAME, UNKNOWN))


def alarms(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    return [one for one in diagnostics if one.level == "MANDATORY"]


@pytest.fixture(scope="module")
def eu4a() -> list[Resource]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PULUMI_STACK", "eu4a")
        program = recorded(load(ROOT, "eu4a", preview=True, changes=WITHOUT_DOOR["eu4a"]))
    return [resource for resource in program if resource.type.startswith("kubernetes:")]


JUDGED_BY_PLACE = {
    "HTTPRoute": ("health-check-missing", "referenced-route"),
    "HealthCheckPolicy": ("health-check-missing", "one-policy-per-target"),
    "GCPBackendPolicy": ("one-policy-per-target",),
    "LLMInferenceService": ("referenced-route",),
}
"""Rules about the whole program that cannot judge a kind of object whose namespace is not known."""


def test_no_unknown_namespace_of_the_shipped_program_raises_an_alarm(eu4a: list[Resource], in_stack: InStack) -> None:
    in_stack("eu4a")
    seen: set[str] = set()
    for position, resource in enumerate(eu4a):
        if not isinstance(resource.inputs.get("metadata", {}).get("namespace"), str):
            continue
        program = [*eu4a[:position], somewhere(resource), *eu4a[position + 1 :]]
        diagnostics = run_pack(program, Analyzer([rule for rule in ALL if rule.check_program is not None]))
        assert alarms(diagnostics) == [], resource.name
        kind = resource.type.rsplit(":", 1)[-1]
        for rule in JUDGED_BY_PLACE.get(kind, ()):
            doubts = of(diagnostics, rule, "ADVISORY")
            assert any("not known yet" in doubt.text for doubt in doubts), (resource.name, rule)
        seen.add(kind)
    assert set(JUDGED_BY_PLACE) <= seen


def test_all_namespaces_unknown_at_once_raise_no_alarm(eu4a: list[Resource], in_stack: InStack) -> None:
    in_stack("eu4a")
    assert (
        alarms(run_pack([somewhere(one) if "namespace" in one.inputs.get("metadata", {}) else one for one in eu4a]))
        == []
    )


ROUTE, CHECK, TIMEOUT = one(GOOD_ROUTE, "route"), one(GOOD_CHECK, "check"), one(GOOD_TIMEOUT, "timeout")
CONFIG, WORKER = resources(PRESET.examples.accepted[0])
SHARING = "{scheduler: {pool: {ref: {name: shared}}}}"
SERVER = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: models}
spec:
  template:
    metadata: {labels: {app: vllm}}
    spec: {containers: [{name: vllm, command: [vllm, serve, org/a]}]}
"""
OTHER_SERVER = SERVER.replace("name: a,", "name: b,").replace("org/a", "org/b")


@pytest.mark.parametrize(
    ("program", "rule"),
    [
        ([ROUTE, somewhere(CHECK)], "health-check-missing"),
        ([somewhere(ROUTE), CHECK], "health-check-missing"),
        ([ROUTE, somewhere(TIMEOUT)], "backend-timeout"),
        ([somewhere(ROUTE), TIMEOUT], "backend-timeout"),
        ([somewhere(one(POOL_YAML, "pool"))], "health-check-missing"),
        ([one(POOL_YAML, "pool", metadata__name=UNKNOWN)], "backend-timeout"),
        (
            [
                one(GOOD_ROUTE, "route", **{"spec__rules[0]__backendRefs[0]__namespace": UNKNOWN}),
                one(GOOD_CHECK, "check", metadata__namespace="pools"),
            ],
            "health-check-missing",
        ),
        (
            [one(GOOD_ROUTE, "route", **{"spec__rules[0]__backendRefs[0]__kind": UNKNOWN}), CHECK],
            "health-check-missing",
        ),
        ([somewhere(CHECK), somewhere(one(GOOD_CHECK, "second", metadata__name="second"))], "one-policy-per-target"),
        (
            [somewhere(one(service_yaml(SHARING), name, metadata__name=name)) for name in ("one", "two")],
            "one-model-per-pool",
        ),
        ([somewhere(one(SERVER, "a")), one(OTHER_SERVER, "b"), one(POOL_YAML, "pool")], "one-model-per-pool"),
        ([one(SERVER, "a"), one(OTHER_SERVER, "b"), somewhere(one(POOL_YAML, "pool"))], "one-model-per-pool"),
        (
            [
                one(SERVER, "a"),
                one(OTHER_SERVER, "b"),
                one(POOL_YAML, "pool", spec__selector__matchLabels={"app": "vllm", "model": UNKNOWN}),
            ],
            "one-model-per-pool",
        ),
        ([somewhere(one(service_yaml(), "service"))], "referenced-route"),
        (
            [somewhere(one(GOOD_ROUTE, "route", metadata__name="qwen-route")), one(service_yaml(), "s")],
            "referenced-route",
        ),
        ([ROUTE, one(GATEWAY_YAML, "g", spec__gatewayClassName=UNKNOWN)], "health-check-missing"),
        ([somewhere(one(GOOD_TIMEOUT, "timeout", spec__targetRef__namespace="models"))], "health-check-shape"),
        ([somewhere(CONFIG), WORKER], "pipeline-worker-config"),
        ([unnamed(CONFIG), WORKER], "pipeline-worker-config"),
        ([CONFIG, somewhere(WORKER)], "pipeline-worker-config"),
    ],
)
def test_what_cannot_be_placed_is_a_doubt_and_no_violation(program: list[Resource], rule: str) -> None:
    diagnostics = of(run_pack(program), rule)
    assert alarms(diagnostics) == []
    assert any("not known yet" in doubt.text for doubt in diagnostics), diagnostics


def test_a_message_does_not_invent_a_namespace() -> None:
    diagnostics = of(
        run_pack([somewhere(one(service_yaml(uri="gs://bucket/model"), "service"))]), "model-uri", "MANDATORY"
    )
    assert diagnostics
    assert "default/" not in diagnostics[0].text


def test_a_route_that_may_belong_to_another_gateway_is_not_judged() -> None:
    bad = one(GOOD_ROUTE, "route", **{"spec__rules[0]__timeouts": {"request": "0s"}})
    local = dataclasses.replace(bad, inputs=replaced(bad.inputs, "spec.parentRefs", [{"name": "istio"}]))
    for others, alarmed in ((["models/istio"], False), (["models/kong"], True)):
        diagnostics = of(
            run_pack([somewhere(local)], configured(rule="route-timeouts", otherGateways=others)), "route-timeouts"
        )
        assert bool(alarms(diagnostics)) == alarmed
        assert alarmed or any("not known yet" in doubt.text for doubt in diagnostics)


def test_two_checks_in_two_known_namespaces_and_one_unknown_leave_the_known_clash_a_violation() -> None:
    third = somewhere(one(policy_yaml("HealthCheckPolicy", GOOD_DEFAULT), "third", metadata__name="third"))
    clash = one(GOOD_CHECK, "second", metadata__name="second")
    diagnostics = of(run_pack([CHECK, clash, third]), "one-policy-per-target")
    assert [(each.level, each.urn) for each in diagnostics if each.level == "MANDATORY"] == [("MANDATORY", clash.urn)]


def test_a_gateway_that_may_be_listed_as_plain_is_not_judged(in_stack: InStack) -> None:
    in_stack("prod")
    for listed, alarmed in (("inference-gateway/inference-gateway", False), ("edge/other", True)):
        analyzer = configured(rule="production-https", plainHttpGateways=[listed])
        diagnostics = of(run_pack([somewhere(one(GATEWAY_YAML, "gateway"))], analyzer), "production-https")
        assert bool(alarms(diagnostics)) == alarmed
        assert alarmed or any("not known yet" in doubt.text for doubt in diagnostics)
