"""Models of the stack under test: their pods, and a second model beside the first."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.harness import Laptop, until
from tests.real_engine.harness import WAIT_SECONDS

SERVICES = "llminferenceservices.serving.kserve.io"
SECOND = {
    "name": "small",
    "uri": "hf://Qwen/Qwen2.5-0.5B-Instruct",
    "pool": "v6e4",
    "replicas": 1,
    "prefixCaching": True,
    "maxModelLen": 1024,
}


def first(config: dict[str, Any]) -> dict[str, Any]:
    """The settings of the stack's first model."""
    return config["llmd-gke:models"][0]


def service(laptop: Laptop, name: str = "qwen") -> objects.Object:
    """A model's LLMInferenceService."""
    obj = objects.one(laptop, SERVICES, name, objects.MODELS)
    assert obj is not None, f"there is no LLMInferenceService {name}"
    return obj


def endpoint(laptop: Laptop, name: str = "qwen") -> tuple[str, str]:
    """A model's URL and the name that clients send, by the stack's outputs."""
    outputs = json.loads(laptop.pulumi("stack", "output", "--json", "--stack", "local").stdout)
    values = outputs["models"][name]
    return str(values["url"]), str(values["servedModelName"])


def servers(laptop: Laptop, name: str = "qwen") -> list[objects.Object]:
    """The model's pods, also those that are not ready yet; without those that are going."""
    pods = objects.pods_of(laptop, f"{name}-kserve")
    return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]


def ready_servers(
    laptop: Laptop, count: int, name: str = "qwen", wait_seconds: float = WAIT_SECONDS
) -> list[objects.Object]:
    """Waits for exactly so many pods, all of them ready."""

    def look() -> list[objects.Object]:
        pods = servers(laptop, name)
        return pods if len(pods) == count and all(objects.is_ready(pod) for pod in pods) else []

    return until(look, f"{count} ready pods of {name}", wait_seconds)


@contextmanager
def changed(laptop: Laptop) -> Generator[None]:
    """Puts the stack's settings back at the end, and the stack with them."""
    file = laptop.workdir.stack_file("local")
    kept = file.read_text()
    try:
        yield
    finally:
        file.write_text(kept)
        laptop.up()


@contextmanager
def replicas(laptop: Laptop, during: int, after: int) -> Generator[None]:
    """Another number of replicas meanwhile, past the program."""

    def patch(count: int) -> None:
        patch = json.dumps({"spec": {"replicas": count}})
        laptop.kubectl("patch", SERVICES, "qwen", "-n", objects.MODELS, "--type=merge", "-p", patch)

    patch(during)
    try:
        yield
    finally:
        patch(after)


def add_second(config: dict[str, Any]) -> None:
    """Settings with a second model in the namespace and on the pool of the first."""
    config["llmd-gke:pools"][0]["maxNodes"] = 6
    config["llmd-gke:models"].append(dict(SECOND))
