"""Autoscaled models in the graph: what scales them, what waits for what, and that other stacks have nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from llmd_gke.catalog import kserve, scaling, versions
from llmd_gke.graph.recording import Graph, ResourceNode
from tests.components import kinds
from tests.components.kinds import of, spec
from tests.components.variants import variant

AUTOSCALER = "llmd-gke:autoscaling:Autoscaler"
HPA = f"kubernetes:{scaling.HPA_VERSION}:{scaling.HPA}"
METRIC = f"kubernetes:{scaling.METRIC_VERSION}:{scaling.METRIC}"
SCALED_OBJECT = f"kubernetes:{scaling.KEDA_VERSION}:{scaling.SCALED_OBJECT}"
SOURCES: Mapping[scaling.Source, str] = {"gke": HPA, "keda": SCALED_OBJECT}


def one(graph: Graph, type_: str) -> ResourceNode:
    (node,) = of(type_)(graph)
    return node


def collects_states(graph: Graph) -> bool:
    return "HPA" in cast("Any", one(graph, kinds.CLUSTER).inputs["monitoringConfig"])["enableComponents"]


def test_a_stack_with_fixed_numbers_has_nothing_of_it(graph: Graph) -> None:
    assert not [node.name for node in graph.nodes.values() if node.type in (AUTOSCALER, HPA, METRIC, SCALED_OBJECT)]
    assert "podAutoscaling" not in one(graph, kinds.CLUSTER).inputs
    assert not collects_states(graph)


@pytest.mark.parametrize(("source", "type_"), SOURCES.items())
def test_the_service_has_no_number_and_comes_before_what_scales_it(source: str, type_: str) -> None:
    graph = variant(source)
    service = one(graph, kinds.SERVICE)
    assert "replicas" not in spec(service)
    scaler = one(graph, type_)
    assert service.urn in scaler.depends_on
    assert cast("Any", spec(scaler))["scaleTargetRef"]["name"] == f"qwen{kserve.DEPLOYMENT_SUFFIX}"
    # The label that the adapter selects is in the selector of the Deployment, which is immutable.
    assert (("labels" in spec(service)), "spec.labels" in service.replace_on_changes) == (source == "gke", True)
    profile = {"hpaProfile": "PERFORMANCE"} if source == "gke" else None
    assert one(graph, kinds.CLUSTER).inputs.get("podAutoscaling") == profile
    assert [node.name for node in of(AUTOSCALER)(graph)] == (["autoscaler"] if source == "keda" else [])
    assert collects_states(graph)


def test_keda_may_read_metrics_and_nothing_else() -> None:
    graph = variant("keda")
    (role,) = [node for node in of(kinds.ROLE)(graph) if node.name.startswith("autoscaler")]
    assert role.inputs["role"] == scaling.READER_ROLE
    (release,) = kinds.chart(scaling.KEDA_CHART)(graph)
    account = cast("Any", release.inputs["values"])["serviceAccount"]["operator"]["name"]
    assert str(role.inputs["member"]).endswith(f"/subject/ns/{scaling.KEDA_NAMESPACE}/sa/{account}")
    assert account == "llmd-eu4a-keda", "clusters of a project share identities"


def test_only_what_keda_reads_waits_for_keda() -> None:
    graph = variant("keda")
    (keda,) = kinds.chart(scaling.KEDA_CHART)(graph)
    assert graph.comes_before(keda, one(graph, SCALED_OBJECT))
    assert not graph.comes_before(keda, one(graph, kinds.SERVICE)), "servers start while KEDA is installed"


def test_kedas_namespace_is_closed_before_keda_runs() -> None:
    graph = variant("keda")
    inside = [node for node in of(kinds.NETWORK_POLICY)(graph) if node.name.startswith("autoscaler-")]
    assert [node.name for node in inside if node.name.endswith("default-deny")]
    (release,) = kinds.chart(scaling.KEDA_CHART)(graph)
    assert {node.urn for node in inside} <= release.depends_on


def test_the_archive_of_kedas_chart_has_its_version() -> None:
    (release,) = kinds.chart(scaling.KEDA_CHART)(variant("keda"))
    pinned = versions.archive(scaling.KEDA_CHART)
    assert release.inputs["chart"] == pinned.home
    assert pinned.home.endswith(f"/keda-{pinned.version}.tgz")
    assert versions.modules()["github.com/kedacore/keda/v2"] == f"v{pinned.version}"
