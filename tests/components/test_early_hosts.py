"""Early hosts of pools that cannot start with hosts: pods ask for them while the platform is installed."""

from __future__ import annotations

from typing import Any, cast

import pytest

from llmd_gke.graph.resources import Graph, ResourceNode
from tests.components import kinds
from tests.components.conftest import Record
from tests.components.kinds import of
from tests.components.variants import variant

JOB = "kubernetes:batch/v1:Job"
PATCH = "kubernetes:batch/v1:JobPatch"


def flex_start(record: Record, **model: object) -> Graph:
    """A stack whose pool cannot start with hosts, with models in two namespaces."""
    pool = {"name": "v6e4", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 4, "earlyHosts": 1}
    one = {"uri": "hf://Qwen/Qwen3-4B", "pool": "v6e4", **model}
    return record(
        {
            "llmd-gke:cluster": {"name": "llmd-eu4a", "zone": "us-east5-a", "minVersion": "1.35"},
            "llmd-gke:pools": [
                {**pool, "capacity": "flex-start"},
                {**pool, "name": "late", "capacity": "flex-start", "earlyHosts": 0},
            ],
            "llmd-gke:models": [
                {"name": "qwen", "namespace": "one", **one},
                {"name": "second", "namespace": "two", **one},
            ],
        },
        preview=True,
    )


@pytest.fixture(params=["flex-start", "list"])
def asking(request: pytest.FixtureRequest, record: Record) -> tuple[Graph, ResourceNode, ResourceNode]:
    """A graph with its Job and the patch of it: of a pool with flex-start, and of one with capacities in order."""
    graph = flex_start(record) if request.param == "flex-start" else variant("keda")
    (job,) = [node for node in of(JOB)(graph) if node.name == "v6e4-early-job"]
    (patch,) = of(PATCH)(graph)
    return graph, job, patch


Asking = tuple[Graph, ResourceNode, ResourceNode]


def test_a_job_asks_once_the_pool_is_there_and_waits_for_no_part_of_the_platform(asking: Asking) -> None:
    graph, job, _ = asking
    pools = [pool for pool in kinds.tpu_pool(graph) if pool.name != "late-nodes"]
    assert pools
    assert {pool.urn for pool in pools} <= graph.before(job)
    assert not {release.urn for release in of(kinds.RELEASE)(graph)} & graph.before(job)
    assert {pool.inputs["initialNodeCount"] for pool in kinds.tpu_pool(graph)} == {0}, "the node pools start empty"


def test_the_job_is_suspended_when_kserve_is_installed_and_before_the_models_pods_exist(asking: Asking) -> None:
    graph, job, patch = asking
    releases = [one for one in of(kinds.RELEASE)(graph) if "kserve" in str(one.inputs["name"])]
    assert releases
    assert {job.urn, *(release.urn for release in releases)} <= graph.before(patch)
    assert all(patch.urn in graph.before(service) for service in of(kinds.SERVICE)(graph))
    assert kinds.spec(patch) == {"suspend": True}
    annotations = cast("Any", kinds.metadata(patch, "annotations"))
    assert annotations["pulumi.com/patchForce"] == "true", "the Job's creator owns the field"
    for key in ("name", "namespace"):
        assert kinds.metadata(patch, key) == kinds.metadata(job, key)


def test_nothing_waits_for_the_jobs_end_a_later_image_starts_no_host_and_nothing_asks_for_hosts_during_a_destroy(
    asking: Asking,
) -> None:
    _, job, patch = asking
    for node in (job, patch):
        assert cast("dict[str, str]", kinds.metadata(node, "annotations"))["pulumi.com/skipAwait"] == "true"
    assert job.ignore_changes == ("spec",)
    assert patch.deleted_with == job.urn


def test_a_pool_that_starts_with_its_hosts_has_no_such_job(record: Record) -> None:
    graph = record()
    assert kinds.tpu_pool(graph)[0].inputs["initialNodeCount"] == 1
    assert of(JOB)(graph) == of(PATCH)(graph) == []


def test_a_stop_leaves_the_job_where_it_is_so_that_it_asks_for_no_host(record: Record) -> None:
    for graph in (flex_start(record), flex_start(record, stopped=True)):
        (job,) = of(JOB)(graph)
        assert kinds.metadata(job, "namespace") == "one"
