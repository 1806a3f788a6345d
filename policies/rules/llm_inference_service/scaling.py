"""Autoscalers of models: HorizontalPodAutoscalers and ScaledObjects that scale KServe's Deployments."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog import kserve
from llmd_gke.catalog import scaling as catalogue
from llmd_gke.rules import scaling
from llmd_gke.rules.finding import Finding
from policies.rules.kinds import LLM_SERVICE, Kind
from policies.rules.rule import ParameterValues, Program, Rule, StackFinding, Subject, about

HPA = Kind(catalogue.HPA_VERSION.partition("/")[0], catalogue.HPA)
SCALED_OBJECT = Kind(catalogue.KEDA_GROUP, catalogue.SCALED_OBJECT)


def _autoscaler(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    if not subject.partial:
        yield from scaling.autoscaler(subject.kind.name, subject.node.get("metadata", "name"), subject.spec)


def _contested(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    scaled = [(one.namespace, scaling.target_of(one.spec)) for one in program.of(HPA, SCALED_OBJECT)]
    for service in program.of(LLM_SERVICE):
        if (service.namespace, service.name) in scaled and service.namespace is not None:
            yield from about(service, scaling.contested(service.name, service.spec.get("replicas")))


AUTOSCALER = Rule(
    name="replica-autoscaler",
    title=(
        "Autoscalers of models keep at least one replica or can start the first again, have names of their own, and do "
        "not treat missing data as zero"
    ),
    why="KServe deletes objects called NAME-kserve-hpa, -keda and -va beside a service without `scaling`, or fails on "
    "them. KEDA reads an empty answer of Prometheus as 0 unless `ignoreNullValues` is false, and would remove replicas "
    "under load. At zero replicas the endpoint picker's gauges keep their last value, so that nothing wakes the model; "
    "a schedule does, or a query for the picker's counters of requests and errors, which it keeps up to date.",
    sources=(kserve.source(f"{kserve.CONTROLLER}/scaling.go"), "https://keda.sh/docs/latest/scalers/prometheus/"),
    kinds=(HPA, SCALED_OBJECT),
    check_object=_autoscaler,
    opt_out="If something else wakes the model, disable the rule.",
)

CONTESTED = Rule(
    name="contested-replicas",
    title="A service whose Deployment is autoscaled sets no number of replicas",
    why="KServe writes `spec.replicas` back at each reconciliation (`PreserveDeploymentReplicas` applies only without "
    "it): the two then change the number of replicas alternately.",
    sources=(kserve.source(f"{kserve.CONTROLLER}/workload.go"),),
    kinds=(LLM_SERVICE, HPA, SCALED_OBJECT),
    check_program=_contested,
)
