"""Objects as the engine registers them, on which the tests of ways around the rules build."""

from __future__ import annotations

from typing import Any

import yaml

from tests.policies.support import Resource

TPU_POD: dict[str, Any] = {
    "nodeSelector": {
        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
        "cloud.google.com/gke-tpu-topology": "2x2",
        "cloud.google.com/gke-accelerator-count": "4",
    },
    "containers": [{"name": "main", "image": "vllm/vllm-tpu:v0.27.0", "resources": {"limits": {"google.com/tpu": 4}}}],
}
GATEWAY = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "Gateway",
    "metadata": {"name": "g", "namespace": "edge"},
    "spec": {"gatewayClassName": "gke-l7-gxlb", "listeners": [{"name": "http", "protocol": "HTTP", "port": 80}]},
}
THING = "kubernetes:example.com/v1:Thing"


def pod(**container: object) -> dict[str, Any]:
    """A pod for TPU whose container has other fields."""
    return {**TPU_POD, "containers": [{**TPU_POD["containers"][0], **container}]}


def thing(kind: str, version: str, **fields: object) -> Resource:
    """An object by its kind, as it is registered."""
    inputs = {"apiVersion": version, "kind": kind, "metadata": {"name": "x", "namespace": "models"}, **fields}
    group = version if "/" in version else f"core/{version}"
    return Resource(f"kubernetes:{group}:{kind}", "x", inputs)


def release(chart: str, **inputs: object) -> Resource:
    return Resource("kubernetes:helm.sh/v3:Release", "release", {"chart": chart, "namespace": "kserve", **inputs})


def cluster(**inputs: object) -> Resource:
    return Resource("gcp:container/cluster:Cluster", "c", {"location": "europe-west4", **inputs})


def policy(**spec: object) -> Resource:
    return thing("NetworkPolicy", "networking.k8s.io/v1", spec={"podSelector": {}, **spec})


def bundle(**inputs: object) -> Resource:
    return Resource("kubernetes:yaml/v2:ConfigGroup", "bundle", dict(inputs))


def held(manifest: object) -> Resource:
    return thing("Object", "kubernetes.crossplane.io/v1", spec={"forProvider": {"manifest": manifest}})


def values(**result: object) -> Resource:
    return release("x", values=result)


GATEWAY_TEXT = yaml.safe_dump(GATEWAY)
