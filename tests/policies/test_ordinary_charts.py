"""Values of ordinary charts and objects of ordinary operators: a production stack takes them as they are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.policies.conftest import InStack
from tests.policies.registered import TPU_POD
from tests.policies.support import Resource, of, run_pack
from tests.policies.test_attacks_by_operators import operator, values

SELECTOR: dict[str, Any] = TPU_POD["nodeSelector"]
CHIPS: dict[str, Any] = {"resources": {"limits": {"google.com/tpu": 4}}}
IMAGE: dict[str, Any] = {"image": {"repository": "web", "tag": "v1.2.0", "pullPolicy": "IfNotPresent"}}
DROPPED: dict[str, Any] = {"securityContext": {"capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True}}
LEVEL = [{"name": "LEVEL", "value": "info"}]

ORDINARY: dict[str, Resource] = {
    "what helm create writes": values(
        **IMAGE,
        **DROPPED,
        podSecurityContext={},
        service={"type": "ClusterIP", "port": 80},
        ingress={"enabled": False, "className": "", "annotations": {}, "hosts": [{"host": "chart-example.local"}]},
        resources={},
        volumes=[],
        nodeSelector={},
        tolerations=[],
    ),
    "a part of its own": values(webhook={**IMAGE, **DROPPED, "extraArgs": [], "hostNetwork": False}),
    "variables beside an image": values(server={**IMAGE, "env": LEVEL}),
    "commands as text": values(server={"command": "start", "args": "--fast", "env": LEVEL}),
    "variables as a map": values(server={**DROPPED, "env": {"LEVEL": "info"}, "envFrom": {"secretRef": "a"}}),
    "ports as a map": values(server={**DROPPED, "ports": {"http": 80}}),
    "containers by name": values(
        controllers={"main": {"containers": {"main": {**IMAGE, **DROPPED, "ports": {"a": 1}}}, **DROPPED}}
    ),
    "an init container with an image in parts": values(initContainers=[{"name": "a", **IMAGE}]),
    "an empty list of init containers": values(initContainers=[], **IMAGE, **DROPPED, volumes={}),
    "a collector": operator("OpenTelemetryCollector", "opentelemetry.io", args={"feature-gates": "a"}, env=LEVEL),
    "an image in parts on TPU": values(**IMAGE, **CHIPS, nodeSelector=SELECTOR),
    "a selector beside the chips": values(**CHIPS, nodeSelector=SELECTOR),
    "a selector beside the chips, further down": values(decode={**CHIPS, "nodeSelector": SELECTOR}),
    "a selector around the chips": values(decode={"nodeSelector": SELECTOR, "server": CHIPS}),
    "chips whose selector the chart has": values(decode=CHIPS),
    "chips of two kinds of pods": values(
        decode={**CHIPS, "nodeSelector": SELECTOR}, prefill={**CHIPS, "nodeSelector": SELECTOR}
    ),
    "chips of two kinds of pods on one selector": values(nodeSelector=SELECTOR, decode=CHIPS, prefill=CHIPS),
    "a TPU object of an operator": operator(
        "Fleet", "example.com", server={**CHIPS, "nodeSelector": SELECTOR, "env": LEVEL}
    ),
    "a spec that is a TPU pod": operator("Fleet", "example.com", **CHIPS, nodeSelector=SELECTOR, env=LEVEL),
    "a selector that the chart's defaults complete": values(
        initContainers=[{"name": "a", **CHIPS}], nodeSelector={"cloud.google.com/gke-tpu-topology": "2x2"}
    ),
}


@pytest.mark.parametrize("resource", ORDINARY.values(), ids=ORDINARY)
def test_an_ordinary_chart_or_operator_is_accepted_in_production(resource: Resource, in_stack: InStack) -> None:
    in_stack("prod")
    assert [one for one in run_pack([resource]) if one.level == "MANDATORY"] == []


WRONG: dict[str, tuple[Resource, str]] = {
    "too few chips beside the selector": (
        values(decode={"resources": {"limits": {"google.com/tpu": 1}}, "nodeSelector": SELECTOR}),
        "tpu-pod",
    ),
    "too few chips in a list": (
        values(pods=[{"resources": {"limits": {"google.com/tpu": 1}}, "nodeSelector": SELECTOR}]),
        "tpu-pod",
    ),
    "a label of another API": (
        values(**CHIPS, nodeSelector={**SELECTOR, "cloud.google.com/gke-tpu-accelerator": "v6e-4"}),
        "tpu-pod",
    ),
    "a moving image beside the selector": (
        values(decode={**CHIPS, "nodeSelector": SELECTOR, "image": "x/vllm:latest"}),
        "image-tag",
    ),
    "an old picker beside an image in parts": (
        values(web={**IMAGE, **DROPPED}, epp={"image": "x/gateway-api-inference-extension/epp:v1.3.0", "env": LEVEL}),
        "endpoint-picker",
    ),
    "privileged as text": (values(securityContext={"privileged": "true"}), "privileged-pod"),
    "privileged beside the selector": (
        values(decode={**CHIPS, "nodeSelector": SELECTOR, "securityContext": {"privileged": True}}),
        "privileged-pod",
    ),
}


@pytest.mark.parametrize(("resource", "rule"), WRONG.values(), ids=WRONG)
def test_a_mistake_in_such_values_is_reported_once(resource: Resource, rule: str, in_stack: InStack) -> None:
    in_stack("prod")
    assert [one.level for one in of(run_pack([resource]), rule)] == ["MANDATORY"]


def test_a_profile_of_a_map_that_is_pod_and_container_is_reported_once(in_stack: InStack) -> None:
    in_stack("prod")
    context = {"privileged": False, "seccompProfile": {"type": "Unconfined"}}
    diagnostics = run_pack([values(decode={"nodeSelector": {"pool": "a"}, "securityContext": context})])
    assert len(of(diagnostics, "privileged-pod")) == 1
