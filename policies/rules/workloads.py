"""Shared by the rules about model pods: finds the pods of an object, and which of them serve models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from llmd_gke.rules import pods
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from llmd_gke.rules.pod_shapes import pods_within, without_types
from policies.rules import kinds
from policies.rules.rule import Check, Subject

KSERVE = (kinds.LLM_SERVICE, kinds.LLM_SERVICE_CONFIG)
SERVERS = (*KSERVE, kinds.DEPLOYMENT, kinds.STATEFUL_SET, kinds.JOB, kinds.POD, kinds.WORKER_SET)
"""Kinds whose fields are known. A pod template in any other kind is recognized by its shape."""

WORKLOADS = (*SERVERS, kinds.ANY_WORKLOAD)


def all_pods(subject: Subject) -> Iterator[Input]:
    """The pods of a workload of any kind."""
    if subject.kind in SERVERS:
        yield from pods.pod_specs(subject.kind.name, subject.spec)
    else:
        yield from shaped_pods(subject)


def shaped_pods(subject: Subject) -> Iterator[Input]:
    """The pods in an object, by their shape. Values of a chart have the types that the chart requires."""
    yield from pods_within(without_types(subject.node) if subject.kind in kinds.CHARTS else subject.node)


def model_pods(subject: Subject) -> Iterator[Input]:
    """KServe's pods, and pods of other workloads if they use accelerators."""
    for pod in all_pods(subject):
        if subject.kind in KSERVE or pods.accelerator(pod) is not None:
            yield pod


def on_model_pods(check: Callable[[Input], Iterable[Finding]]) -> Check:
    """Turns a check of a pod into the check of a rule about one object with model pods."""
    return lambda subject, _settings: (finding for pod in model_pods(subject) for finding in check(pod))
