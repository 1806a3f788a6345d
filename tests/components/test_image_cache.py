"""With an image cache every image comes through repositories of the stack, which exist before anything pulls."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache

import pytest

from llmd_gke.catalog import deployer, permissions, registries
from llmd_gke.graph.recording import load
from llmd_gke.graph.resources import Graph, ResourceNode
from llmd_gke.manifests import charts
from llmd_gke.settings.load import read_config
from operations.comment.policy_messages import run_policies
from tests.components import kinds
from tests.components.conftest import ROOT, WITHOUT_DOOR, Record
from tests.components.kinds import of

REPOSITORY = "gcp:artifactregistry/repository:Repository"
PATH = "my-project/llmd-eu4a"
CACHE = f"europe-west4-docker.pkg.dev/{PATH}"
DOOR: dict[str, object] = {
    **read_config(ROOT, "eu4a"),
    "llmd-gke:frontDoor": {"callers": [{"name": "trial", "requestsPerMinute": 60}]},
}
IMAGE = re.compile(r'"(?:image|repository|imageRegistry)": "([^"]*)"')


@cache
def cached(kind: str, preview: bool) -> Graph:
    """The stack with a cache: behind a door, or with everything else that starts pods."""
    model: dict[str, object] = {
        "name": "qwen",
        "uri": "hf://Qwen/Qwen3-32B",
        "pool": "v6e4",
        "minReplicas": 1,
        "maxReplicas": 3,
        "weightsCache": "gs://weights-of-mine/qwen",
    }
    pool = {"name": "v6e4", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 4, "diskGb": 150}
    listed = {**pool, "capacity": [{"kind": "on-demand"}, {"kind": "spot"}], "earlyHosts": 1}
    scaled = {
        **read_config(ROOT, "eu4a"),
        **WITHOUT_DOOR["eu4a"],
        "llmd-gke:pools": [listed],
        "llmd-gke:models": [model],
    }
    changes: Mapping[str, object] = {**(DOOR if kind == "door" else scaled), "llmd-gke:imageCache": {}}
    return load(ROOT, "eu4a", preview=preview, changes=changes)


ALSO = {
    "door": {"front-door-gateway-helm", "front-door-redis"},
    "scaled": {"autoscaler-keda", "qwen-weights-job", "v6e4-early-job"},
}
KINDS = pytest.mark.parametrize("kind", ["door", "scaled"])


def pulling(graph: Graph) -> list[ResourceNode]:
    """Every resource that names an image of the cache."""
    return [node for node in graph.nodes.values() if f"{PATH}-" in json.dumps(node.inputs, default=str)]


def test_every_registry_of_images_has_a_repository_in_the_region_of_the_nodes() -> None:
    assert registries.CACHED.keys() == registries.hosts()
    made = {str(node.inputs["repositoryId"]): node.inputs for node in of(REPOSITORY)(cached("door", False))}
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


@KINDS
def test_no_image_of_the_graph_comes_from_elsewhere(kind: str) -> None:
    graph = cached(kind, False)
    text = json.dumps([node.inputs for node in graph.nodes.values()], default=str)
    images = set(IMAGE.findall(text))
    assert len(images) >= 7
    assert [image for image in images if not image.removeprefix("europe-west4-docker.pkg.dev/").startswith(PATH)] == []
    for home in registries.hosts():
        named = re.findall(rf'"{re.escape(home)}/[^"]*"', text)
        assert named == [], home


def test_keda_names_registry_and_path_apart() -> None:
    (release,) = kinds.chart("keda")(cached("scaled", False))
    values = release.inputs["values"]
    assert isinstance(values, dict)
    image = values["image"]
    assert isinstance(image, dict)
    assert image["keda"] == {
        "registry": "europe-west4-docker.pkg.dev",
        "repository": "my-project/llmd-eu4a-ghcr/kedacore/keda",
    }


@KINDS
def test_charts_come_from_their_own_registries(kind: str) -> None:
    homes = [str(node.inputs["chart"]) for node in of(kinds.RELEASE)(cached(kind, False))]
    assert len(homes) >= len(charts.PLATFORM)
    assert not any("pkg.dev" in home for home in homes)


@KINDS
@pytest.mark.parametrize("preview", [True, False], ids=["preview", "up"])
def test_the_repositories_exist_before_everything_that_names_their_images(kind: str, preview: bool) -> None:
    graph = cached(kind, preview)
    repositories, later = of(REPOSITORY)(graph), pulling(graph)
    assert len(repositories) == 4
    assert {"platform-cert-manager", "qwen-service", *ALSO[kind]} <= {node.name for node in later}
    late = [(a.name, b.name) for b in later for a in repositories if not graph.comes_before(a, b)]
    assert late == []


def test_the_repositories_wait_for_the_apis_and_not_for_the_network() -> None:
    graph = cached("door", False)
    apis, (network,) = of(kinds.API)(graph), of(kinds.VPC)(graph)
    for repository in of(REPOSITORY)(graph):
        assert all(graph.comes_before(api, repository) for api in apis)
        assert not graph.comes_before(network, repository)


def test_nodes_may_stream_and_read_before_there_are_any() -> None:
    graph = cached("door", False)
    granted = {str(node.inputs["role"]): node for node in of(kinds.ROLE)(graph)}
    assert granted.keys() == set(deployer.NODE_ROLES)
    assert len({str(node.inputs["member"]) for node in granted.values()}) == 1
    (cluster,) = of(kinds.CLUSTER)(graph)
    assert all(graph.comes_before(node, cluster) for node in [*granted.values(), *of(REPOSITORY)(graph)])


def test_versions_are_deleted_after_the_days_of_the_setting_except_the_newest(record: Record) -> None:
    graph = record({"llmd-gke:imageCache": {"keepDays": 90}})
    for repository in of(REPOSITORY)(graph):
        policies = repository.inputs["cleanupPolicies"]
        assert isinstance(policies, list)
        delete, keep = policies
        assert isinstance(delete, dict)
        assert isinstance(keep, dict)
        assert (delete["action"], delete["condition"]) == ("DELETE", {"olderThan": "7776000s"})
        assert (keep["action"], keep["mostRecentVersions"]) == ("KEEP", {"keepCount": 10})


def test_a_private_image_stays_where_its_credentials_are_valid(record: Record) -> None:
    model = {"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e4", "image": "ghcr.io/mine/vllm-tpu:v0.27.0"}
    changes: dict[str, object] = {
        "llmd-gke:imageCache": {},
        "llmd-gke:models": [{**model, "privateImage": True}],
        "llmd-gke:pullSecret": "{}",
    }
    graph = record(changes)
    text = json.dumps([node.inputs for node in graph.nodes.values()], default=str)
    assert '"ghcr.io/mine/vllm-tpu:v0.27.0"' in text
    assert f'"{CACHE}-ghcr/llm-d/' in text


@KINDS
def test_the_policies_agree_and_the_deployers_role_suffices(kind: str) -> None:
    graph = cached(kind, False)
    assert [one for one in run_policies("eu4a", graph) if one.mandatory] == []
    needed = permissions.needed({node.type for node in graph.nodes.values()})
    wanted = {"artifactregistry.repositories.create", "artifactregistry.repositories.delete"}
    assert wanted <= set(needed)
    assert wanted <= set(deployer.permissions([REPOSITORY]))
