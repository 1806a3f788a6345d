"""Every resource: parent, provider, name, protection, timeouts."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from llmd_common.pulumi_signatures import UNKNOWN
from llmd_gke.catalog import deployer
from llmd_gke.graph.resources import Graph
from llmd_gke.manifests import charts, firewall, naming, platform_firewall, scraping
from llmd_gke.settings import StackSettings
from tests import golden
from tests.components import kinds
from tests.components.conftest import ROOT, of_stack
from tests.components.kinds import metadata, of, spec
from tests.components.variants import VARIANTS, variant
from tests.graphs import load

GOLDEN = Path(__file__).with_name("golden")


def identities(graph: Graph) -> list[str]:
    """What a stack's state knows each resource by: types from the outermost parent inwards, and the name."""
    root = f"{kinds.STACK}$"  # the engine leaves it out of URNs, the mocks do not
    result = [node.urn.split("::", 2)[2] for node in graph.nodes.values() if node.type != kinds.STACK]
    return sorted(identity.removeprefix(root) for identity in result)


@pytest.mark.parametrize("name", ["prod", "keda"])
def test_types_and_names_are_the_ones_that_stacks_remember(name: str) -> None:
    """A stack with a front door, and one with paths of its own and much else: nearly every type."""
    graph = load(ROOT, name) if name == "prod" else variant(name)
    file = GOLDEN / f"{name}.txt"
    result = identities(graph)
    remembered = golden.remembered(file, "".join(f"{line}\n" for line in result)).splitlines()
    difference = "\n".join(difflib.unified_diff(remembered, result, "remembered", "now", lineterm="", n=0))
    assert not difference, (
        f"{difference}\n\nA resource whose types or name change is deleted and recreated in every existing stack: "
        "for a cluster that means all of it. Give a renamed or moved resource `aliases` in its options first. "
        f"If nothing was renamed (something came or went on purpose), "
        f"run this test once with --rewrite and commit {file.name}."
    )


def test_no_two_resources_of_a_type_share_a_name(graph: Graph) -> None:
    counts = Counter((node.type, node.name) for node in graph.nodes.values())
    assert [key for key, count in counts.items() if count > 1] == []


def test_no_two_objects_in_the_cluster_share_kind_namespace_and_name(graph: Graph) -> None:
    objects = [node for node in kinds.everything_in_kubernetes(graph) if node.type != kinds.RELEASE]
    counts = Counter((node.type, str(metadata(node, "namespace")), str(metadata(node, "name"))) for node in objects)
    assert [key for key, count in counts.items() if count > 1] == []


def test_every_resource_has_a_component_as_its_parent(graph: Graph) -> None:
    children = [node for node in graph.nodes.values() if node.custom and node.type != kinds.GOOGLE_PROVIDER]
    assert children
    components = {node.urn for node in graph.nodes.values() if not node.custom and node.type != kinds.STACK}
    assert [node.name for node in children if node.parent not in components] == []


@pytest.mark.parametrize("name", [*VARIANTS, "door"])
def test_what_holds_for_every_stack_holds_for_all_settings(name: str) -> None:
    graph = variant(name) if name in VARIANTS else of_stack(name, preview=False, shipped=True)
    test_no_two_resources_of_a_type_share_a_name(graph)
    test_no_two_objects_in_the_cluster_share_kind_namespace_and_name(graph)
    test_every_resource_has_a_component_as_its_parent(graph)
    test_everything_goes_through_our_provider(graph, kinds.KUBERNETES_PROVIDER, kinds.everything_in_kubernetes)
    test_everything_goes_through_our_provider(graph, kinds.GOOGLE_PROVIDER, kinds.everything_in_google_cloud)


def test_components_hang_below_the_stack(graph: Graph) -> None:
    components = [node for node in graph.nodes.values() if not node.custom and node.type != kinds.STACK]
    assert {node.type for node in components} == {
        "llmd-gke:project:Project",
        "llmd-gke:network:Network",
        "llmd-gke:cluster:Cluster",
        "llmd-gke:edge:GatewayApi",
        "llmd-gke:edge:Edge",
        "llmd-gke:platform:Platform",
        "llmd-gke:pools:Pool",
        "llmd-gke:models:ModelNamespace",
        "llmd-gke:models:Model",
        "llmd-gke:monitoring:CloudMonitoring",
        "llmd-gke:monitoring:Scraping",
    }
    assert [node.name for node in components if kinds.STACK not in node.parent] == []


@pytest.mark.parametrize(
    ("provider", "through_it"),
    [
        (kinds.KUBERNETES_PROVIDER, kinds.everything_in_kubernetes),
        (kinds.GOOGLE_PROVIDER, kinds.everything_in_google_cloud),
    ],
)
def test_everything_goes_through_our_provider(graph: Graph, provider: str, through_it: kinds.Select) -> None:
    """Without an explicit provider an object goes to whatever kubeconfig lies around."""
    ours = graph.find(provider).urn
    assert [node.name for node in through_it(graph) if node.provider.rsplit("::", 1)[0] != ours] == []


def test_the_kubernetes_provider_has_a_constant_identity(graph: Graph, settings: StackSettings) -> None:
    provider = graph.find(kinds.KUBERNETES_PROVIDER)
    cluster = settings.cluster
    assert provider.inputs["clusterIdentifier"] == f"{settings.project}/{cluster.location}/{cluster.name}"


def test_the_google_provider_is_bound_to_the_project_and_labels_everything(
    graph: Graph, settings: StackSettings
) -> None:
    inputs = graph.find(kinds.GOOGLE_PROVIDER).inputs
    assert inputs["project"] == settings.project
    assert inputs["region"] == settings.cluster.region
    assert f'"llmd-gke-cluster": "{settings.cluster.name}"' in str(inputs["defaultLabels"]).replace("'", '"')


def test_protection_follows_the_settings(record: Callable[..., Graph]) -> None:
    """Stack eu4a is a trial that is not protected. By default a cluster is protected against deletion by Google."""
    for graph, protect in ((record(), False), (variant("edge"), True)):
        cluster = graph.find(kinds.CLUSTER)
        assert (cluster.protect, cluster.inputs["deletionProtection"]) == (protect, protect)
        assert graph.find(kinds.VPC).protect is protect


def minutes(timeout: str) -> int:
    assert timeout.endswith("m"), timeout
    return int(timeout.removesuffix("m"))


def test_deleting_the_network_outlasts_gkes_clean_up(graph: Graph) -> None:
    slow = [*of(kinds.VPC)(graph), *of(kinds.SUBNET)(graph)]
    assert slow
    assert all(minutes(node.timeouts["delete"]) >= 30 for node in slow)


def test_creating_a_service_has_more_time_than_its_server_takes_to_start(graph: Graph, settings: StackSettings) -> None:
    budgets = {model.name: model.startup_budget for model in settings.models}
    services = of(kinds.SERVICE)(graph)
    assert len(services) == len(budgets)
    for service in services:
        assert minutes(service.timeouts["create"]) > budgets[str(metadata(service, "name"))]
        assert minutes(service.timeouts["update"]) > budgets[str(metadata(service, "name"))]


def test_waiting_for_capacity_outlasts_googles_own_retries(graph: Graph) -> None:
    waits = [minutes(pool.timeouts["create"]) for pool in kinds.tpu_pool(graph)]
    assert waits
    assert min(waits) > 35


def test_every_model_has_two_health_checks_and_two_backend_policies_on_objects_kserve_will_make(
    graph: Graph, settings: StackSettings
) -> None:
    for kind in (kinds.HEALTH, kinds.BACKEND):
        result = sorted(
            (str(metadata(node, "namespace")), *map(str, target.values()))
            for node in of(kind)(graph)
            if isinstance(target := spec(node)["targetRef"], dict)
        )
        assert result == sorted(
            (model.namespace, *target)
            for model in settings.models
            for target in (
                ("inference.networking.k8s.io", "InferencePool", f"{model.name}-inference-pool"),
                ("", "Service", f"{model.name}-kserve-workload-svc"),
            )
        )


def test_network_policies_arrive_as_written(graph: Graph, settings: StackSettings) -> None:
    due = [
        policy["spec"]
        for model in settings.models
        for policy in firewall.model_policies(model, settings.network, settings.gateway).values()
    ]
    due += [firewall.default_deny(namespace)["spec"] for namespace in settings.namespaces]
    due += [
        policy["spec"]
        for namespace in charts.namespaces()
        for policy in platform_firewall.policies(
            namespace, settings.network, private_nodes=settings.cluster.private_nodes
        ).values()
    ]
    due += [scraping.network_policy(namespace)["spec"] for namespace in settings.namespaces]
    result = [spec(node) for node in of(kinds.NETWORK_POLICY)(graph)]
    assert len(result) == len(due)
    assert [policy for policy in due if policy not in result] == []


def test_only_model_namespaces_may_attach_routes(graph: Graph, settings: StackSettings) -> None:
    admitted = {
        metadata(node, "name"): labels[naming.GATEWAY_ACCESS_LABEL]
        for node in of(kinds.NAMESPACE)(graph)
        if isinstance(labels := metadata(node, "labels"), dict) and naming.GATEWAY_ACCESS_LABEL in labels
    }
    assert admitted == dict.fromkeys(settings.namespaces, "true")


@pytest.mark.parametrize("stack", ["door", "gpu", "local", "prod"])
def test_every_object_is_known_in_the_first_preview(stack: str) -> None:
    graph = of_stack(stack, preview=True, shipped=stack != "gpu")
    unknown = {node.name for node in kinds.everything_in_kubernetes(graph) if UNKNOWN in str(node.inputs)}
    assert unknown == set(), "policies must be able to judge every object on the first preview"


def test_single_hosts_have_no_placement_policy_and_the_disk_that_attaches(graph: Graph, stack: str) -> None:
    pools = kinds.tpu_pool(graph)
    assert pools
    for pool in pools:
        assert "placementPolicy" not in pool.inputs
        config = pool.inputs["nodeConfig"]
        assert isinstance(config, dict)
        assert config["diskType"] == ("pd-balanced" if stack == "gpu" else "hyperdisk-balanced")


def test_namespaces_have_time_for_the_load_balancer_to_let_go_of_their_services(graph: Graph) -> None:
    namespaces = of(kinds.NAMESPACE)(graph)
    assert namespaces
    assert [namespace.timeouts for namespace in namespaces] == [{"delete": "30m"}] * len(namespaces)


def test_the_deploying_identity_may_grant_exactly_the_project_roles_of_the_graph(graph: Graph) -> None:
    granted = {str(node.inputs["role"]) for node in of(kinds.ROLE)(graph)}
    assert granted == set(deployer.NODE_ROLES)
    assert all(f"'{role}'" in deployer.condition() for role in granted)
