"""The pack's configuration: levels and parameters, and what is said about wrong ones."""

from __future__ import annotations

from typing import Any, cast

import grpc
import pytest
from pulumi.runtime.proto import analyzer_pb2

from policies.groups import ALL
from policies.pack import Analyzer
from policies.rules.example_files import Example
from policies.rules.gateways.gateway import GATEWAY_CLASS
from policies.rules.routes.routes import ROUTE_TIMEOUTS
from tests.policies.conftest import InStack
from tests.policies.objects import GATEWAY_YAML
from tests.policies.support import of, resources, run_pack, written


class Refused(Exception):
    """What gRPC raises when a call is aborted."""


class Context:
    """As much of a gRPC context as the pack uses."""

    def abort(self, code: grpc.StatusCode, details: str) -> None:
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        raise Refused(details)


def configured(level: int = analyzer_pb2.MANDATORY, *, rule: str = "gateway-class", **values: Any) -> Analyzer:
    request = analyzer_pb2.ConfigureAnalyzerRequest()
    request.policyConfig[rule].enforcementLevel = cast(Any, level)
    request.policyConfig[rule].properties.update(values)
    analyzer = Analyzer()
    analyzer.Configure(request, cast(grpc.ServicerContext, Context()))
    return analyzer


BAD_CLASS, GOOD_CLASS = GATEWAY_CLASS.examples.refused[0], GATEWAY_CLASS.examples.accepted[0]
TIMEOUTS = ROUTE_TIMEOUTS.examples.refused[0]
BACKEND = next(rule for rule in ALL if rule.name == "backend-timeout").examples.accepted[0]


@pytest.mark.parametrize(
    ("analyzer", "example", "rule", "levels"),
    [
        (configured(analyzer_pb2.ADVISORY), BAD_CLASS, "gateway-class", ["ADVISORY"]),
        (configured(analyzer_pb2.DISABLED), BAD_CLASS, "gateway-class", []),
        (configured(analyzer_pb2.DISABLED), TIMEOUTS, "route-timeouts", ["MANDATORY"]),
        (configured(allowed=["gke-l7-global-external-managed"]), BAD_CLASS, "gateway-class", []),
        (configured(allowed=["gke-l7-global-external-managed"]), GOOD_CLASS, "gateway-class", ["MANDATORY"]),
        *(
            (configured(rule="route-timeouts", otherGateways=[name]), TIMEOUTS, "route-timeouts", [])
            for name in ("inference-gateway", "inference-gateway/inference-gateway")
        ),
        (
            configured(rule="production-https", stacks=["dev"]),
            written(GATEWAY_YAML),
            "production-https",
            ["MANDATORY"],
        ),
        (configured(rule="backend-timeout", minimumSeconds=1200), BACKEND, "backend-timeout", ["MANDATORY"]),
    ],
)
def test_levels_and_parameters_decide_what_a_rule_says(
    analyzer: Analyzer, example: Example, rule: str, levels: list[str]
) -> None:
    assert sorted({one.level for one in of(run_pack(resources(example), analyzer), rule)}) == levels


@pytest.mark.parametrize(
    ("rule", "values", "message"),
    [
        ("gateway-clas", {}, "did you mean gateway-class?"),
        ("nothing-like-it", {}, "available rules: "),
        ("gateway-class", {"alowed": []}, "meant: allowed?"),
        ("gateway-class", {"allowed": "gke-l7-rilb"}, "allowed must be a list of strings"),
        ("gateway-class", {"allowed": [1]}, "allowed must be a list of strings"),
        ("backend-timeout", {"minimumSeconds": "long"}, "minimumSeconds must be a whole number"),
        ("cluster-version", {"floor": 1}, "floor must be a string"),
        ("tpu-taint", {"allowed": []}, "it has none"),
    ],
)
def test_wrong_configuration_is_refused_in_words(rule: str, values: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=r"policy pack llmd-gke") as refused:
        configured(rule=rule, **values)
    assert message in str(refused.value)


LOAD_BALANCER = written(
    "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: b}\nspec: {type: LoadBalancer}\n"
)


def levels(analyzer: Analyzer) -> list[str]:
    return [one.level for one in of(run_pack(resources(LOAD_BALANCER), analyzer), "public-service")]


def test_what_is_exposed_is_a_violation_in_production_and_advice_elsewhere(in_stack: InStack) -> None:
    for stack, level in (("dev", "ADVISORY"), ("prod", "MANDATORY"), ("Production-eu", "MANDATORY")):
        in_stack(stack)
        assert levels(Analyzer()) == [level]


def test_the_stacks_of_a_rule_decide_its_level_unless_somebody_has_chosen_one(in_stack: InStack) -> None:
    in_stack("live")
    level = analyzer_pb2.ADVISORY  # the engine configures what nobody has configured with the level it was told
    assert levels(configured(level, rule="public-service", stacks=["live"])) == ["MANDATORY"]
    in_stack("prod")
    assert levels(configured(analyzer_pb2.ADVISORY, rule="public-service")) == ["ADVISORY"]
    assert levels(configured(analyzer_pb2.DISABLED, rule="public-service")) == []
    assert levels(configured(analyzer_pb2.MANDATORY, rule="public-service", stacks=[])) == ["ADVISORY"]


def test_an_object_may_be_named_that_may_be_exposed() -> None:
    for name in ("a", "b/a"):
        assert levels(configured(analyzer_pb2.ADVISORY, rule="public-service", allowed=[name])) == []
    assert levels(configured(analyzer_pb2.ADVISORY, rule="public-service", allowed=["c/a"])) == ["ADVISORY"]
