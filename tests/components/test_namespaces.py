from __future__ import annotations

from llmd_gke.graph.resources import Graph
from llmd_gke.manifests import charts
from tests.components import kinds
from tests.components.variants import variant

PATCH = "kubernetes:core/v1:NamespacePatch"
ENFORCE = "pod-security.kubernetes.io/enforce"


def enforced(graph: Graph) -> dict[str, str]:
    result: dict[str, str] = {}
    for node in [*kinds.of(kinds.NAMESPACE)(graph), *kinds.of(PATCH)(graph)]:
        labels = kinds.metadata(node, "labels")
        assert isinstance(labels, dict), node.name
        result[str(kinds.metadata(node, "name"))] = str(labels[ENFORCE])
    return result


def test_every_namespace_enforces_a_pod_security_standard(graph: Graph) -> None:
    levels = enforced(graph)
    assert levels.pop("inference-gateway") == "restricted", "no pod is meant to be there"
    assert set(levels) == {"models", *charts.namespaces()}
    assert set(levels.values()) == {"baseline"}


def test_namespaces_of_controllers_are_labelled_and_closed_before_their_charts(graph: Graph) -> None:
    releases = kinds.of(kinds.RELEASE)(graph)
    assert releases
    for release in releases:
        space = release.inputs["namespace"]
        before = [graph.nodes[urn] for urn in graph.before(release)]
        assert [node.type for node in before if kinds.is_named(node, PATCH, str(space))] == [PATCH]
        policies = [node for node in before if node.type == kinds.NETWORK_POLICY]
        names = {kinds.metadata(node, "name") for node in policies if kinds.metadata(node, "namespace") == space}
        assert names == {"default-deny", "allow-control-plane"}


def test_releases_still_make_their_namespace_as_stacks_remember_it(graph: Graph) -> None:
    assert {release.inputs["createNamespace"] for release in kinds.of(kinds.RELEASE)(graph)} == {True}


def test_what_is_in_controllers_namespaces_goes_with_the_cluster(graph: Graph) -> None:
    cluster = graph.find(kinds.CLUSTER)
    inside = [node for node in graph.nodes.values() if node.type == PATCH or kinds.is_in(node, charts.namespaces())]
    assert inside
    for node in inside:
        assert node.deleted_with == cluster.urn, node.name


def test_the_policies_can_be_left_out_and_the_labels_stay() -> None:
    graph = variant("bare")
    assert enforced(graph)["kserve"] == "baseline"
    policies = kinds.of(kinds.NETWORK_POLICY)(graph)
    assert {kinds.metadata(node, "namespace") for node in policies} == {"models"}
