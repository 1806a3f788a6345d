"""Rules about autoscaled replicas."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from llmd_gke.catalog import scaling as catalogue
from llmd_gke.catalog import versions
from llmd_gke.rules import scaling
from llmd_gke.rules.inputs import Input, Value

FLOOR = versions.gke_autoscaling_metric()
TARGET: Mapping[str, Value] = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "qwen-kserve"}


def problems(kind: str, name: str = "qwen-replicas", **spec: Value) -> list[str]:
    whole = Input({"metadata": {"name": name}, "spec": {"scaleTargetRef": TARGET, **spec}})
    return [finding.problem for finding in scaling.autoscaler(kind, whole.get("metadata", "name"), whole.get("spec"))]


@pytest.mark.parametrize("sequences", range(2, 300))
def test_a_refused_threshold_names_the_highest_that_is_accepted_and_one_that_is(sequences: int) -> None:
    (finding,) = scaling.running(sequences, sequences)
    most = int(finding.allowed.removeprefix("at most "))
    assert list(scaling.running(most, sequences)) == []
    assert list(scaling.running(most + 1, sequences)) != []
    advised = int(finding.fix.removeprefix("runningPerReplica: ").removesuffix(", or remove it"))
    assert list(scaling.running(advised, sequences)) == []
    assert catalogue.running_threshold(sequences) == advised


def test_a_server_of_one_request_at_once_has_no_threshold_of_running_requests() -> None:
    (finding,) = scaling.running(1, 1)
    assert (finding.allowed.startswith("no number"), finding.fix) == (True, "remove it")


@pytest.mark.parametrize(
    ("version", "has"),
    [(FLOOR, True), ("1.37", True), ("1.38", True), ("1.37.0-gke.3099999", False), ("1.36", False), ("1.35", False)],
)
def test_the_managed_adapter_is_used_from_its_version_on(version: str, has: bool) -> None:
    assert scaling.has_managed_adapter(version) is has
    assert scaling.effective_source(None, version) == ("gke" if has else "keda")
    assert scaling.effective_source("keda", version) == "keda"


@pytest.mark.parametrize("name", ["qwen-kserve-hpa", "qwen-kserve-keda", "qwen-kserve-va"])
def test_a_name_that_kserve_deletes_is_refused(name: str) -> None:
    (problem,) = problems(catalogue.HPA, name, minReplicas=1, maxReplicas=2)
    assert "KServe deletes an object of that name" in problem


def test_zero_replicas_are_refused_also_where_they_are_the_default() -> None:
    (given,) = problems(catalogue.HPA, minReplicas=0, maxReplicas=2)
    (default,) = problems(catalogue.SCALED_OBJECT, maxReplicaCount=2)
    assert "spec.minReplicas is 0" in given
    assert "spec.minReplicaCount is missing, which means 0" in default


@pytest.mark.parametrize(
    ("query", "accepted"), [("sum(inference_objective_request_error_total)", True), ("sum(vllm:num_requests)", False)]
)
def test_zero_replicas_are_allowed_where_a_request_brings_them_back(query: str, *, accepted: bool) -> None:
    trigger: Value = {"type": "prometheus", "metadata": {"ignoreNullValues": "false", "query": query}}
    refused = problems(catalogue.SCALED_OBJECT, minReplicaCount=0, maxReplicaCount=2, triggers=[trigger])
    assert (refused == []) is accepted


@pytest.mark.parametrize("metadata", [{}, {"ignoreNullValues": "true"}])
def test_missing_data_that_reads_as_zero_is_refused(metadata: Value) -> None:
    trigger: Value = {"type": "prometheus", "metadata": metadata}
    (problem,) = problems(catalogue.SCALED_OBJECT, minReplicaCount=1, maxReplicaCount=2, triggers=[trigger])
    assert "removes replicas under load" in problem


def test_a_number_of_replicas_beside_an_autoscaler_is_refused() -> None:
    (finding,) = scaling.contested("qwen", Input({"replicas": 2}).get("replicas"))
    assert "KServe writes this number back" in finding.problem
    assert list(scaling.contested("qwen", Input({}).get("replicas"))) == []
