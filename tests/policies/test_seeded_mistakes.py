"""Mistakes that real deployments made, put into the shipped program: each is caught, with the reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.graph.recording import load
from tests.components.conftest import WITHOUT_DOOR
from tests.policies.conftest import InStack
from tests.policies.support import Resource, of, recorded, replaced, run_pack

ROOT = Path(__file__).parents[2]
ROUTE, GATEWAY, SERVICE, CONFIG = "HTTPRoute", "Gateway", "LLMInferenceService", "LLMInferenceServiceConfig"
POOL, CLUSTER = "NodePool:v6e4-nodes", "Cluster:cluster-control-plane"
CHECK, TIMEOUT = "HealthCheckPolicy:qwen-health-pool", "GCPBackendPolicy:qwen-backend-pool"
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
    """Another value at a path of the resource."""

    def change(before: Program) -> Program:
        assert any(_is(one, resource_name) for one in before), resource_name
        return [
            dataclasses.replace(one, inputs=replaced(one.inputs, path, value)) if _is(one, resource_name) else one
            for one in before
        ]

    return change


def without(resource_name: str) -> Mistake:
    """Without a resource."""
    return lambda before: [one for one in before if not _is(one, resource_name)]


def plus(type_: str, inputs: dict[str, Any]) -> Mistake:
    """With one resource more."""
    return lambda before: [*before, Resource(type_, "more", inputs)]


MISTAKES: list[tuple[str, Mistake, str]] = [
    (
        "a global GatewayClass",
        write(GATEWAY, "spec.gatewayClassName", "gke-l7-global-external-managed"),
        "gateway-class",
    ),
    ("a TPU zone GKE does not have", write(POOL, "nodeLocations", ["us-south1-a"]), "tpu-zone"),
    (
        "a machine type that never existed",
        write(POOL, "nodeConfig.machineType", "ct6e-standard-16t"),
        "tpu-machine-type",
    ),
    (
        "a three-dimensional topology on v6e",
        write(POOL, "placementPolicy", {"type": "COMPACT", "tpuTopology": "2x2x1"}),
        "tpu-topology",
    ),
    (
        "a placement policy on single hosts",
        write(POOL, "placementPolicy", {"type": "COMPACT", "tpuTopology": "2x2"}),
        "tpu-placement",
    ),
    ("the default boot disk", write(POOL, "nodeConfig.diskType", "pd-balanced"), "tpu-boot-disk"),
    ("flex-start where there is none", write(POOL, "nodeConfig.flexStart", True), "tpu-capacity"),
    ("the TPU taint by hand", write(POOL, "nodeConfig.taints", [{"key": "google.com/tpu"}]), "tpu-taint"),
    ("the Gateway API off", write(CLUSTER, "gatewayApiConfig.channel", "CHANNEL_DISABLED"), "cluster-gateway-api"),
    ("no HTTP load balancing", write(CLUSTER, "addonsConfig.httpLoadBalancing.disabled", True), "cluster-gateway-api"),
    ("an old control plane", write(CLUSTER, "minMasterVersion", "1.33.4-gke.1"), "cluster-version"),
    ("a VPC without proxy-only subnet", without("Subnetwork:network-proxies"), "proxy-subnet-missing"),
    ("timeouts in the route", write(ROUTE, "spec.rules[0].timeouts", {"request": "0s"}), "route-timeouts"),
    ("a managed route", write(SERVICE, "spec.router.route", {}), "managed-route"),
    (
        "timeouts in an inline route",
        write(SERVICE, "spec.router.route.http", {"spec": {"rules": [{"timeouts": {"request": "0s"}}]}}),
        "route-timeouts",
    ),
    (
        "a preset with timeouts",
        write(CONFIG, "spec.router", {"route": {"http": {"spec": {"rules": [{"timeouts": {}}]}}}}),
        "route-timeouts",
    ),
    (
        "the v1alpha2 pool group",
        write(ROUTE, "spec.rules[2].backendRefs[0].group", "inference.networking.x-k8s.io"),
        "inference-pool-group",
    ),
    ("retries in the route", write(ROUTE, "spec.rules[0].retry", {"attempts": 2}), "route-refused-features"),
    ("no health check of the pool", without(CHECK), "health-check-missing"),
    ("no health check of the Service", without("HealthCheckPolicy:qwen-health-service"), "health-check-missing"),
    (
        "a health check on the generated Service",
        write(CHECK, "spec.targetRef", {"group": "", "kind": "Service", "name": "qwen-inference-pool-ip-24a13a90"}),
        "generated-service-target",
    ),
    (
        "the pool's health check aimed elsewhere",
        write(CHECK, "spec.targetRef", {"group": "", "kind": "Service", "name": "qwen-inference-pool-ip-24a13a90"}),
        "health-check-missing",
    ),
    (
        "a target without group",
        write(CHECK, "spec.targetRef", {"kind": "InferencePool", "name": "qwen-inference-pool"}),
        "health-check-shape",
    ),
    (
        "a port without portSpecification",
        write(CHECK, "spec.default.config.httpHealthCheck", {"requestPath": "/health", "port": 8000}),
        "health-check-shape",
    ),
    (
        "the default path",
        write(CHECK, "spec.default.config.httpHealthCheck.requestPath", "/"),
        "model-health-check",
    ),
    (
        "an HTTPS check of a plain server",
        write(
            CHECK,
            "spec.default.config",
            {
                "type": "HTTPS",
                "httpsHealthCheck": {"requestPath": "/health", "port": 8000, "portSpecification": "USE_FIXED_PORT"},
            },
        ),
        "model-health-check",
    ),
    ("the 30 s default timeout", without(TIMEOUT), "backend-timeout"),
    (
        "KServe's TLS switched on",
        plus(
            "kubernetes:core/v1:ConfigMap",
            {
                "metadata": {"name": "inferenceservice-config", "namespace": "kserve"},
                "data": {"ingress": '{"urlScheme": "https", "enableLLMInferenceServiceTLS": true}'},
            },
        ),
        "kserve-tls",
    ),
    ("LeaderWorkerSet 0.4.0", write("Release:platform-lws", "version", "0.4.0"), "platform-version"),
    ("KServe 0.19", write(CONTROLLER, "version", "v0.19.0"), "platform-version"),
    ("KServe in another namespace", write(CONTROLLER, "namespace", "opendatahub"), "kserve-namespace"),
    ("two owners of the pool CRD", write(CONTROLLER, "values.kserve.llmisvc.createGIECRDs", True), "crd-ownership"),
    (
        "presets that cannot be deleted",
        write(CONTROLLER, "values.kserve.llmisvc.controller.env", []),
        "preset-deletion",
    ),
    ("a readiness delay for a startup probe", write(CONFIG, f"{MAIN}.startupProbe", None), "tpu-startup-probe"),
    (
        "a startup probe of the preset's length",
        write(CONFIG, f"{MAIN}.startupProbe.failureThreshold", 60),
        "tpu-startup-probe",
    ),
    ("an argument no vLLM has", write(CONFIG, f"{MAIN}.args", ["--prefix-cache-block-size=16"]), "tpu-server-argument"),
    ("a moving image", write(CONFIG, f"{MAIN}.image", "vllm/vllm-tpu:latest"), "image-tag"),
    (
        "TPU host bounds by hand",
        write(CONFIG, f"{MAIN}.env", [{"name": "TPU_HOST_BOUNDS", "value": "1"}]),
        "tpu-environment",
    ),
    ("a token in the environment", write(CONFIG, f"{MAIN}.env", [{"name": "HF_TOKEN", "value": "x"}]), "plain-secret"),
    ("half of the chips", write(CONFIG, f"{MAIN}.resources.limits", {"google.com/tpu": "2"}), "tpu-pod"),
    (
        "the TPU API's name as node label",
        write(
            CONFIG,
            "spec.template.nodeSelector",
            {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e", "cloud.google.com/gke-tpu-topology": "2x2"},
        ),
        "tpu-pod",
    ),
    (
        "tensor parallelism beside the chips",
        write(CONFIG, f"{MAIN}.args", ["--tensor-parallel-size=2"]),
        "tpu-parallelism",
    ),
    (
        "an endpoint picker without ALPN",
        write(
            SERVICE,
            "spec.router.scheduler.template",
            {"containers": [{"name": "main", "image": "ghcr.io/llm-d/llm-d-inference-scheduler:v0.4.0"}]},
        ),
        "endpoint-picker",
    ),
    (
        "an endpoint picker without TLS",
        write(
            SERVICE,
            "spec.router.scheduler.template",
            {"containers": [{"name": "main", "args": ["--secure-serving=false"]}]},
        ),
        "endpoint-picker",
    ),
    ("a Gateway without any route", write(SERVICE, "spec.router.route", None), "router-shape"),
    ("a bucket as model", write(SERVICE, "spec.model.uri", "gs://models/qwen"), "model-uri"),
    ("a worker with nothing to do", write(SERVICE, "spec.worker", {"containers": []}), "worker-parallelism"),
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
    (
        "a selector that matches no pod",
        plus(
            "kubernetes:networking.k8s.io/v1:NetworkPolicy",
            {
                "metadata": {"name": "allow-gateway", "namespace": "models"},
                "spec": {"podSelector": {"matchLabels": {"app.kubernetes.io/component": "workload"}}},
            },
        ),
        "network-policy-labels",
    ),
    (
        "a policy opened for all after the download failed",
        plus(
            "kubernetes:networking.k8s.io/v1:NetworkPolicy",
            {"metadata": {"name": "egress"}, "spec": {"podSelector": {}, "egress": [{}]}},
        ),
        "network-policy-open",
    ),
]


@pytest.mark.parametrize(("mistake", "rule"), [each[1:] for each in MISTAKES], ids=[each[0] for each in MISTAKES])
def test_the_mistake_is_caught(mistake: Mistake, rule: str, in_stack: InStack) -> None:
    in_stack("eu4a")
    before = run_pack(list(program()))
    assert of(before, rule) == [], "without the mistake the rule is silent"
    diagnostics = of(run_pack(mistake(list(program()))), rule)
    assert diagnostics
    assert all("can't run policy" not in one.text for one in diagnostics), diagnostics
