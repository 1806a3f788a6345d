"""Mistakes that real deployments made, put into the shipped program: each is caught, with the reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from policies.groups import ALL
from policies.pack import Analyzer
from tests.components.conftest import WITHOUT_DOOR
from tests.graphs import load
from tests.policies.conftest import InStack
from tests.policies.support import Resource, recorded, replaced, run_pack

ROOT = Path(__file__).parents[2]
ROUTE, SERVICE, CONFIG = "HTTPRoute", "LLMInferenceService", "LLMInferenceServiceConfig"
POOL, CLUSTER = "NodePool:v6e4-nodes", "Cluster:cluster-control-plane"
CHECK = "HealthCheckPolicy:qwen-health-pool"
GENERATED = {"group": "", "kind": "Service", "name": "qwen-inference-pool-ip-24a13a90"}
PICKER = {"containers": [{"name": "main", "image": "ghcr.io/llm-d/llm-d-inference-scheduler:v0.4.0"}]}
CONTROLLER = "Release:platform-kserve-llmisvc-resources"
MAIN = "spec.template.containers[0]"
SERVING = "kubernetes:serving.kserve.io/v1alpha2:LLMInferenceService"

Program = list[Resource]
Mistake = Callable[[Program], Program]


@cache
def program() -> tuple[Resource, ...]:
    return tuple(recorded(load(ROOT, "eu4a", preview=True, changes=WITHOUT_DOOR["eu4a"])))


def _is(resource: Resource, resource_name: str) -> bool:
    kind, _, name = resource_name.partition(":")
    last = resource.type.rpartition(":")[2]
    return last == kind and (resource.name == name if name else True)


def write(resource_name: str, path: str, value: object) -> Mistake:
    def change(before: Program) -> Program:
        assert any(_is(one, resource_name) for one in before), resource_name
        return [
            dataclasses.replace(one, inputs=replaced(one.inputs, path, value)) if _is(one, resource_name) else one
            for one in before
        ]

    return change


def without(resource_name: str) -> Mistake:
    return lambda before: [one for one in before if not _is(one, resource_name)]


def plus(type_: str, inputs: dict[str, Any]) -> Mistake:
    return lambda before: [*before, Resource(type_, "more", inputs)]


MISTAKES: list[tuple[str, Mistake, str]] = [
    ("a TPU zone GKE does not have", write(POOL, "nodeLocations", ["us-south1-a"]), "tpu-zone"),
    ("an old control plane", write(CLUSTER, "minMasterVersion", "1.33.4-gke.1"), "cluster-version"),
    ("a VPC without proxy-only subnet", without("Subnetwork:network-proxies"), "proxy-subnet-missing"),
    ("timeouts in the route", write(ROUTE, "spec.rules[0].timeouts", {"request": "0s"}), "route-timeouts"),
    ("no health check of the pool", without(CHECK), "health-check-missing"),
    ("no health check of the Service", without("HealthCheckPolicy:qwen-health-service"), "health-check-missing"),
    ("the pool's health check aimed elsewhere", write(CHECK, "spec.targetRef", GENERATED), "health-check-missing"),
    ("the 30 s default timeout", without("GCPBackendPolicy:qwen-backend-pool"), "backend-timeout"),
    ("two owners of the pool CRD", write(CONTROLLER, "values.kserve.llmisvc.createGIECRDs", True), "crd-ownership"),
    ("an argument no vLLM has", write(CONFIG, f"{MAIN}.args", ["--prefix-cache-block-size=16"]), "tpu-server-argument"),
    ("an endpoint picker without ALPN", write(SERVICE, "spec.router.scheduler.template", PICKER), "endpoint-picker"),
    ("a Gateway without any route", write(SERVICE, "spec.router.route", None), "router-shape"),
    ("no route of that name", without(ROUTE), "referenced-route"),
    (
        "two models in one pool",
        lambda before: plus(
            SERVING,
            {
                "metadata": {"name": "phi", "namespace": "models"},
                "spec": {"router": {"scheduler": {"pool": {"ref": {"name": "shared"}}}}},
            },
        )(write(SERVICE, "spec.router.scheduler.pool", {"ref": {"name": "shared"}})(before)),
        "one-model-per-pool",
    ),
]
"""Mistakes that only the whole program shows, and one for each kind of resource: the examples of the rules hold all."""


@pytest.mark.parametrize(("mistake", "rule"), [each[1:] for each in MISTAKES], ids=[each[0] for each in MISTAKES])
def test_the_mistake_is_caught(mistake: Mistake, rule: str, in_stack: InStack) -> None:
    in_stack("eu4a")
    alone = [one for one in ALL if one.name == rule]
    assert run_pack(list(program()), Analyzer(alone)) == [], "without the mistake the rule is silent"
    diagnostics = run_pack(mistake(list(program())), Analyzer(alone))
    assert diagnostics
    assert all("can't run policy" not in one.text for one in diagnostics), diagnostics
