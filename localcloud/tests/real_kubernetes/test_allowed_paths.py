"""The program's own route on a real Envoy: what of a model server is passed on, at its path and at the root.

Served by hand, in a namespace with the program's Pod Security labels: neither KServe nor the program is needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest

from llmd_gke.catalog import endpoints
from llmd_gke.manifests import pod_security, serving
from llmd_gke.settings import ModelSettings, PoolSettings
from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.serving import Served, chat, program_route

NAMESPACE = "allowed"
CLOSED_BY_GATEWAY = (404, "fault filter abort")
MODEL = ModelSettings.model_validate(
    {"name": "qwen", "namespace": NAMESPACE, "uri": "hf://a/b", "pool": "v6e4", "atRoot": True, "paths": ["/tokenize"]}
)
POOL = PoolSettings.model_validate(
    {"name": "v6e4", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 1}
)
CLOSED = (
    "/",
    "/metrics",
    "/docs",
    "/openapi.json",
    "/version",
    "/load",
    "/pause",
    "/invocations",
    "/v1",
    "/v1/load_lora_adapter",
)


@pytest.fixture(scope="module")
def served(bare: Laptop) -> Iterator[Served]:
    labels = pod_security.labels(pod_security.level([MODEL]))
    # Not applied as the rest is: what is applied again without its labels loses them.
    bare.kubectl("create", "namespace", NAMESPACE)
    bare.kubectl("label", "namespace", NAMESPACE, *[f"{key}={value}" for key, value in labels.items()])
    made = Served(bare, NAMESPACE, replicas=1)
    made.parts["HTTPRoute/route"] = program_route(MODEL, "gateway")
    made.start()
    made.await_answers(f"{MODEL.path}/health")
    until(lambda: made.ask(chat("hello"))[0]["status"] == 200, "an answer of the InferencePool")
    yield made
    made.remove()


def met(served: Served, path: str, **how: Any) -> tuple[int, str]:
    (answer,) = served.ask({"path": path, **how})
    return answer["status"], answer["text"]


@pytest.mark.parametrize("prefix", [MODEL.path, ""], ids=["its own path", "the root"])
@pytest.mark.parametrize("path", CLOSED)
def test_the_gateway_answers_404_for_everything_that_is_not_listed(served: Served, prefix: str, path: str) -> None:
    status, text = met(served, prefix + path)
    assert (status, "vllm:" in text) == (404, False), text
    assert met(served, prefix + path, body={"model": "qwen"})[0] == 404


@pytest.mark.parametrize("prefix", [MODEL.path, ""], ids=["its own path", "the root"])
@pytest.mark.parametrize("path", endpoints.LISTING)
def test_listing_and_health_are_answered(served: Served, prefix: str, path: str) -> None:
    assert met(served, prefix + path)[0] == 200


@pytest.mark.parametrize("prefix", [MODEL.path, ""], ids=["its own path", "the root"])
@pytest.mark.parametrize("path", [*endpoints.INFERENCE, *MODEL.paths])
def test_inference_and_further_paths_reach_the_server(served: Served, prefix: str, path: str) -> None:
    assert met(served, prefix + path, body={"model": "hand-made"}) != CLOSED_BY_GATEWAY


def test_a_chat_is_answered_below_the_models_path(served: Served) -> None:
    (answer,) = served.ask(chat("hello", path=f"{MODEL.path}/v1/chat/completions"))
    assert answer["status"] == 200, answer
    assert json.loads(answer["text"])["choices"][0]["message"]["content"] == "hello"


def dry_run(served: Served, pod: dict[str, Any]) -> str:
    metadata = {"name": "tried", "namespace": NAMESPACE}
    manifest = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod})
    how = ("apply", "--dry-run=server", "--validate=false", "-f", "-")
    return served.laptop.inside("kubectl", *how, stdin=manifest, check=False).stderr


def test_a_models_pod_is_admitted_by_the_namespace_and_a_privileged_one_is_not(served: Served) -> None:
    template = cast("Any", serving.runtime_config(MODEL, POOL))["spec"]["template"]
    assert "violates PodSecurity" not in dry_run(served, template)
    template["containers"][0]["securityContext"] = {"privileged": True}
    assert 'violates PodSecurity "baseline:latest"' in dry_run(served, template)


def test_the_warm_up_container_is_nothing_that_restricted_would_refuse(served: Served) -> None:
    template = cast("Any", serving.runtime_config(MODEL, POOL))["spec"]["template"]
    output = dry_run(served, template)
    assert 'would violate PodSecurity "restricted:latest"' in output, "the server itself runs as root"
    assert '"main"' in output
    assert '"warm-up"' not in output


def test_a_models_pod_gets_warm_with_its_hardened_container(served: Served) -> None:
    template = cast("Any", serving.runtime_config(MODEL, POOL))["spec"]["template"]
    del template["nodeSelector"]
    main = template["containers"][0]
    main["resources"] = {}
    # Weights, and what KServe's preset brings beside them, are not needed by the simulator.
    metadata = {"name": "warm", "namespace": NAMESPACE}
    served.put({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template})
    try:
        until(lambda: objects.is_ready(objects.one(served.laptop, "pod", "warm", NAMESPACE) or {}), "a warm pod", 60)
    finally:
        served.drop("pod", "warm")
