"""What the rules of model pods share: which pods those are, and examples of them."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.rules import pods
from llmd_gke.rules.inputs import Node
from policies.rules.rule import (
    ANY_WORKLOAD,
    DEPLOYMENT,
    JOB,
    POD,
    SERVICE,
    SERVICE_CONFIG,
    STATEFUL_SET,
    WORKER_SET,
    Example,
    Subject,
)

KSERVE = (SERVICE, SERVICE_CONFIG)
SERVERS = (*KSERVE, DEPLOYMENT, STATEFUL_SET, JOB, POD, WORKER_SET)
"""Kinds whose fields are known. A pod template in any other kind is recognized by its shape."""

WORKLOADS = (*SERVERS, ANY_WORKLOAD)


def all_pods(subject: Subject) -> Iterator[Node]:
    """The pods of a workload of whatever kind."""
    if subject.kind in SERVERS:
        yield from pods.pod_specs(subject.kind.name, subject.spec)
    else:
        yield from pods.pods_within(subject.node)


def model_pods(subject: Subject) -> Iterator[Node]:
    """KServe's pods, and those of other workloads if they are for TPU."""
    for pod in all_pods(subject):
        if subject.kind in KSERVE or pods.wants_tpu(pod):
            yield pod


SELECTOR = (
    "{cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 2x2, "
    'cloud.google.com/gke-accelerator-count: "4"}'
)
PROBE = "{httpGet: {path: /health, port: 8000}, periodSeconds: 10, failureThreshold: 180}"


def config_yaml(
    *,
    selector: str = SELECTOR,
    chips: str = '"4"',
    args: str = '["--tensor-parallel-size", "4"]',
    env: str = "[]",
    probe: str = PROBE,
    image: str = "docker.io/vllm/vllm-tpu:v0.27.0",
    more: str = "",
) -> str:
    """A TPU runtime for KServe."""
    return f"""\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceServiceConfig
metadata: {{name: qwen-tpu, namespace: models}}
spec:
  template:
    nodeSelector: {selector}
    containers:
      - name: main
        image: {image}
        args: {args}
        env: {env}
        resources: {{limits: {{google.com/tpu: {chips}}}}}
        startupProbe: {probe}
{more}"""


GOOD = Example(config_yaml())
FIRST = "spec.template.containers[0]"


def group_yaml(parallelism: str, *, leader_probe: str = PROBE) -> str:
    """A TPU runtime for a 4x4 slice of four hosts: a leader that serves, and its workers."""
    pod = f"""\
    nodeSelector: {SELECTOR.replace("2x2", "4x4")}
    containers:
      - name: main
        image: docker.io/vllm/vllm-tpu:v0.27.0
        args: ["--tensor-parallel-size", "16"]
        resources: {{limits: {{google.com/tpu: "4"}}}}
"""
    return f"""\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceServiceConfig
metadata: {{name: big-tpu, namespace: models}}
spec:
  parallelism: {parallelism}
  template:
{pod}        startupProbe: {leader_probe}
  worker:
{pod}"""
