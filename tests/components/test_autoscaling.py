"""Autoscaled models in the graph: what scales them, what waits for what, and that other stacks have nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from llmd_gke.catalog import kserve, scaling, versions
from llmd_gke.graph.recording import Graph, ResourceNode
from llmd_gke.settings.load import read_config
from operations.comment.policy_messages import run_policies
from tests.components import kinds, test_resources
from tests.components.conftest import ROOT, Record
from tests.components.kinds import of, spec

AUTOSCALER = "llmd-gke:autoscaling:Autoscaler"
HPA = f"kubernetes:{scaling.HPA_VERSION}:{scaling.HPA}"
METRIC = f"kubernetes:{scaling.METRIC_VERSION}:{scaling.METRIC}"
SCALED_OBJECT = f"kubernetes:{scaling.KEDA_VERSION}:{scaling.SCALED_OBJECT}"
SOURCES: Mapping[scaling.Source, str] = {"gke": HPA, "keda": SCALED_OBJECT}

Scaled = Callable[..., Graph]


@pytest.fixture
def scaled(record: Record) -> Scaled:
    """Stack `eu4a` with its model between 1 and 3 replicas, scaled by a source."""

    def recorded(source: scaling.Source, *, preview: bool = False, **changes: object) -> Graph:
        config = read_config(ROOT, "eu4a")
        model = cast("list[dict[str, Any]]", config["llmd-gke:models"])[0]
        del model["replicas"]
        model |= {"minReplicas": 1, "maxReplicas": 3, **changes}
        if source == "gke":
            cast("dict[str, Any]", config["llmd-gke:cluster"])["minVersion"] = versions.gke_autoscaling_metric()
        return record(config, preview=preview)

    return recorded


def one(graph: Graph, type_: str) -> ResourceNode:
    (node,) = of(type_)(graph)
    return node


def test_a_stack_with_fixed_numbers_has_nothing_of_it(graph: Graph) -> None:
    assert not [node.name for node in graph.nodes.values() if node.type in (AUTOSCALER, HPA, METRIC, SCALED_OBJECT)]
    assert "podAutoscaling" not in one(graph, kinds.CLUSTER).inputs


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize(
    "holds",
    [
        test_resources.test_no_two_resources_of_a_type_share_a_name,
        test_resources.test_no_two_objects_in_the_cluster_share_kind_namespace_and_name,
        test_resources.test_every_resource_has_a_component_as_its_parent,
        test_resources.test_every_object_in_kubernetes_goes_through_our_provider,
        test_resources.test_everything_in_google_cloud_goes_through_our_provider,
    ],
)
def test_what_holds_for_every_stack_holds_for_this_one(
    scaled: Scaled, source: scaling.Source, preview: bool, holds: Callable[[Graph], None]
) -> None:
    holds(scaled(source, preview=preview))


@pytest.mark.parametrize(("source", "type_"), SOURCES.items())
def test_the_service_has_no_number_and_comes_before_what_scales_it(
    scaled: Scaled, source: scaling.Source, type_: str
) -> None:
    graph = scaled(source)
    service = one(graph, kinds.SERVICE)
    assert "replicas" not in spec(service)
    scaler = one(graph, type_)
    assert service.urn in scaler.depends_on
    assert cast("Any", spec(scaler))["scaleTargetRef"]["name"] == f"qwen{kserve.DEPLOYMENT_SUFFIX}"


@pytest.mark.parametrize("source", SOURCES)
def test_the_policies_accept_it(scaled: Scaled, source: scaling.Source) -> None:
    assert [one for one in run_policies("eu4a", scaled(source)) if one.mandatory] == []


def test_the_policies_accept_a_model_that_may_be_idle(scaled: Scaled) -> None:
    graph = scaled("keda", scaling={"idleAfterSeconds": 7200})
    assert cast("Any", spec(one(graph, SCALED_OBJECT)))["minReplicaCount"] == 0
    assert [one for one in run_policies("eu4a", graph) if one.mandatory] == []


def test_keda_is_installed_only_where_it_is_the_source(scaled: Scaled) -> None:
    assert [node.name for node in of(AUTOSCALER)(scaled("keda"))] == ["autoscaler"]
    assert of(AUTOSCALER)(scaled("gke")) == []
    assert of(AUTOSCALER)(scaled("keda", stopped=True)) == []


def test_keda_may_read_metrics_and_nothing_else(scaled: Scaled) -> None:
    graph = scaled("keda")
    (role,) = [node for node in of(kinds.ROLE)(graph) if node.name.startswith("autoscaler")]
    assert role.inputs["role"] == scaling.READER_ROLE
    (release,) = kinds.chart(scaling.KEDA_CHART)(graph)
    account = cast("Any", release.inputs["values"])["serviceAccount"]["operator"]["name"]
    assert str(role.inputs["member"]).endswith(f"/subject/ns/{scaling.KEDA_NAMESPACE}/sa/{account}")
    assert account == "llmd-eu4a-keda", "clusters of a project share identities"


def test_only_what_keda_reads_waits_for_keda(scaled: Scaled) -> None:
    graph = scaled("keda")
    (keda,) = kinds.chart(scaling.KEDA_CHART)(graph)
    assert graph.comes_before(keda, one(graph, SCALED_OBJECT))
    assert not graph.comes_before(keda, one(graph, kinds.SERVICE)), "servers start while KEDA is installed"


def test_kedas_namespace_is_closed_before_keda_runs(scaled: Scaled) -> None:
    graph = scaled("keda")
    inside = [node for node in of(kinds.NETWORK_POLICY)(graph) if node.name.startswith("autoscaler-")]
    assert [node.name for node in inside if node.name.endswith("default-deny")]
    (release,) = kinds.chart(scaling.KEDA_CHART)(graph)
    assert {node.urn for node in inside} <= release.depends_on


def test_the_label_that_the_adapter_selects_replaces_a_service(scaled: Scaled) -> None:
    """KServe puts it into the selector of the Deployment, which is immutable."""
    labelled, plain = (one(scaled(source), kinds.SERVICE) for source in ("gke", "keda"))
    assert ("labels" in spec(labelled), "labels" in spec(plain)) == (True, False)
    for service in (labelled, plain):
        assert "spec.labels" in service.replace_on_changes


def test_the_managed_adapter_needs_the_clusters_profile(scaled: Scaled) -> None:
    cluster = one(scaled("gke"), kinds.CLUSTER)
    assert cluster.inputs["podAutoscaling"] == {"hpaProfile": "PERFORMANCE"}
    assert "podAutoscaling" not in one(scaled("keda"), kinds.CLUSTER).inputs


def test_states_of_autoscalers_are_collected_where_there_is_one(scaled: Scaled, record: Record) -> None:
    def components(graph: Graph) -> list[str]:
        return cast("Any", one(graph, kinds.CLUSTER).inputs["monitoringConfig"])["enableComponents"]

    assert "HPA" in components(scaled("keda"))
    assert "HPA" not in components(record())


def test_the_archive_of_kedas_chart_has_its_version(scaled: Scaled) -> None:
    (release,) = kinds.chart(scaling.KEDA_CHART)(scaled("keda"))
    pinned = versions.archive(scaling.KEDA_CHART)
    assert release.inputs["chart"] == pinned.home
    assert pinned.home.endswith(f"/keda-{pinned.version}.tgz")
    assert versions.modules()["github.com/kedacore/keda/v2"] == f"v{pinned.version}"
