"""With an image cache every image comes through repositories of the stack, which exist before anything pulls."""

from __future__ import annotations

import json
import re

import pytest

from llmd_gke.catalog import deployer, registries
from llmd_gke.graph.resources import Graph, ResourceNode
from llmd_gke.manifests import charts
from tests.components import kinds
from tests.components.kinds import of
from tests.components.variants import variant

REPOSITORY = "gcp:artifactregistry/repository:Repository"
PATH = "my-project/llmd-eu4a"
IMAGE = re.compile(r'"(?:image|repository|imageRegistry)": "([^"]*)"')
PRIVATE = "ghcr.io/mine/vllm-tpu:v0.27.0"
"""An image whose credentials are valid at its own registry: a cache leaves it there."""
ALSO = {
    "tokens": {"front-door-gateway-helm", "front-door-redis"},
    "keda": {"autoscaler-keda", "qwen-weights-job", "v6e4-early-job"},
}
CACHED = pytest.mark.parametrize("name", ALSO)
"""Stacks with a cache: behind a front door, and with everything else that starts pods."""


def pulling(graph: Graph) -> list[ResourceNode]:
    return [node for node in graph.nodes.values() if f"{PATH}-" in json.dumps(node.inputs, default=str)]


def test_every_registry_of_images_has_a_repository_in_the_region_of_the_nodes() -> None:
    assert registries.CACHED.keys() == registries.hosts()
    made = {str(node.inputs["repositoryId"]): node.inputs for node in of(REPOSITORY)(variant("tokens"))}
    assert {name: one["remoteRepositoryConfig"] for name, one in made.items()} == {
        "llmd-eu4a-docker-hub": {"description": "docker.io", "dockerRepository": {"publicRepository": "DOCKER_HUB"}},
        "llmd-eu4a-ghcr": {"description": "ghcr.io", "commonRepository": {"uri": "https://ghcr.io"}},
        "llmd-eu4a-quay": {"description": "quay.io", "commonRepository": {"uri": "https://quay.io"}},
        "llmd-eu4a-k8s": {"description": "registry.k8s.io", "commonRepository": {"uri": "https://registry.k8s.io"}},
    }
    for one in made.values():
        assert (one["location"], one["format"], one["mode"]) == ("europe-west4", "DOCKER", "REMOTE_REPOSITORY")


def test_a_stack_without_a_cache_has_no_repository(graph: Graph) -> None:
    assert of(REPOSITORY)(graph) == []


@CACHED
def test_no_image_of_the_graph_comes_from_elsewhere_and_charts_come_from_their_own_registries(name: str) -> None:
    graph = variant(name)
    text = json.dumps([node.inputs for node in graph.nodes.values()], default=str)
    images = set(IMAGE.findall(text))
    assert (PRIVATE in images) is (name == "tokens")
    images.discard(PRIVATE)
    assert len(images) >= 7
    assert [image for image in images if not image.removeprefix("europe-west4-docker.pkg.dev/").startswith(PATH)] == []
    for home in registries.hosts():
        named = {*re.findall(rf'"({re.escape(home)}/[^"]*)"', text)} - {PRIVATE}
        assert named == set(), home
    homes = [str(node.inputs["chart"]) for node in of(kinds.RELEASE)(graph)]
    assert len(homes) >= len(charts.PLATFORM)
    assert not any("pkg.dev" in home for home in homes)


def test_keda_names_registry_and_path_apart() -> None:
    (release,) = kinds.chart("keda")(variant("keda"))
    values = release.inputs["values"]
    assert isinstance(values, dict)
    image = values["image"]
    assert isinstance(image, dict)
    assert image["keda"] == {
        "registry": "europe-west4-docker.pkg.dev",
        "repository": "my-project/llmd-eu4a-ghcr/kedacore/keda",
    }


@CACHED
def test_the_repositories_exist_before_everything_that_names_their_images(name: str) -> None:
    graph = variant(name)
    repositories, later = of(REPOSITORY)(graph), pulling(graph)
    assert len(repositories) == 4
    assert {"platform-cert-manager", "qwen-service", *ALSO[name]} <= {node.name for node in later}
    late = [(a.name, b.name) for b in later for a in repositories if not graph.comes_before(a, b)]
    assert late == []


def test_the_repositories_wait_for_the_apis_and_not_for_the_network() -> None:
    graph = variant("tokens")
    apis, (network,) = of(kinds.API)(graph), of(kinds.VPC)(graph)
    for repository in of(REPOSITORY)(graph):
        assert all(graph.comes_before(api, repository) for api in apis)
        assert not graph.comes_before(network, repository)


def test_nodes_may_stream_and_read_before_there_are_any() -> None:
    graph = variant("tokens")
    granted = {str(node.inputs["role"]): node for node in of(kinds.ROLE)(graph)}
    assert granted.keys() == set(deployer.NODE_ROLES)
    assert len({str(node.inputs["member"]) for node in granted.values()}) == 1
    (cluster,) = of(kinds.CLUSTER)(graph)
    assert all(graph.comes_before(node, cluster) for node in [*granted.values(), *of(REPOSITORY)(graph)])


def test_versions_are_deleted_after_the_days_of_the_setting_except_the_newest() -> None:
    for repository in of(REPOSITORY)(variant("keda")):
        policies = repository.inputs["cleanupPolicies"]
        assert isinstance(policies, list)
        delete, keep = policies
        assert isinstance(delete, dict)
        assert isinstance(keep, dict)
        assert (delete["action"], delete["condition"]) == ("DELETE", {"olderThan": "7776000s"})
        assert (keep["action"], keep["mostRecentVersions"]) == ("KEEP", {"keepCount": 10})
