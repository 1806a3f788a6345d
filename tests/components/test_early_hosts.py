"""Early hosts of pools that cannot start with hosts: pods ask for them while the platform is installed."""

from __future__ import annotations

from typing import Any, cast

import pytest

from llmd_gke.graph.resources import Graph, ResourceNode
from tests.components import kinds
from tests.components.conftest import Record
from tests.components.kinds import of

JOB = "kubernetes:batch/v1:Job"
PATCH = "kubernetes:batch/v1:JobPatch"
CAPACITIES: dict[str, object] = {"flex-start": "flex-start", "a list": [{"kind": "on-demand"}, {"kind": "spot"}]}


def with_pool(record: Record, **over: Any) -> Graph:
    pool = {"name": "v6e4", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 4, "diskGb": 150, **over}
    return record(
        {
            "llmd-gke:cluster": {"name": "llmd-eu4a", "zone": "us-east5-a", "minVersion": "1.35"},
            "llmd-gke:pools": [pool],
        },
        preview=True,
    )


def asking(record: Record, capacity: object) -> tuple[Graph, ResourceNode, ResourceNode]:
    graph = with_pool(record, capacity=capacity, earlyHosts=1)
    (job,), (patch,) = of(JOB)(graph), of(PATCH)(graph)
    return graph, job, patch


@pytest.mark.parametrize("capacity", CAPACITIES)
def test_a_job_asks_once_the_pool_is_there_and_waits_for_no_part_of_the_platform(record: Record, capacity: str) -> None:
    graph, job, _ = asking(record, CAPACITIES[capacity])
    pools = kinds.tpu_pool(graph)
    assert pools
    assert {pool.urn for pool in pools} <= graph.before(job)
    assert not {release.urn for release in of(kinds.RELEASE)(graph)} & graph.before(job)


@pytest.mark.parametrize("capacity", CAPACITIES)
def test_the_job_is_suspended_when_kserve_is_installed_and_before_the_models_pods_exist(
    record: Record, capacity: str
) -> None:
    graph, job, patch = asking(record, CAPACITIES[capacity])
    (service,) = of(kinds.SERVICE)(graph)
    releases = [one for one in of(kinds.RELEASE)(graph) if "kserve" in str(one.inputs["name"])]
    assert releases
    assert {job.urn, *(release.urn for release in releases)} <= graph.before(patch)
    assert patch.urn in graph.before(service)
    assert kinds.spec(patch) == {"suspend": True}
    annotations = cast("Any", kinds.metadata(patch, "annotations"))
    assert annotations["pulumi.com/patchForce"] == "true", "the Job's creator owns the field"
    for key in ("name", "namespace"):
        assert kinds.metadata(patch, key) == kinds.metadata(job, key)


@pytest.mark.parametrize("capacity", CAPACITIES)
def test_the_node_pools_themselves_start_empty(record: Record, capacity: str) -> None:
    graph, _, _ = asking(record, CAPACITIES[capacity])
    assert {pool.inputs["initialNodeCount"] for pool in kinds.tpu_pool(graph)} == {0}


def test_nothing_waits_for_the_jobs_end_and_a_later_image_starts_no_host(record: Record) -> None:
    _, job, patch = asking(record, "flex-start")
    for node in (job, patch):
        assert cast("dict[str, str]", kinds.metadata(node, "annotations"))["pulumi.com/skipAwait"] == "true"
    assert job.ignore_changes == ("spec",)


def test_the_patch_goes_with_its_job_so_that_nothing_asks_for_hosts_during_a_destroy(record: Record) -> None:
    _, job, patch = asking(record, "flex-start")
    assert patch.deleted_with == job.urn


@pytest.mark.parametrize(
    "over", [{"capacity": "flex-start", "earlyHosts": 0}, {"capacity": "on-demand", "earlyHosts": 1}]
)
def test_other_pools_have_no_such_job(record: Record, over: dict[str, object]) -> None:
    graph = with_pool(record, **over)
    assert of(JOB)(graph) == of(PATCH)(graph) == []


def test_a_stop_leaves_the_job_where_it_is_so_that_it_asks_for_no_host(record: Record) -> None:
    pool = {"name": "v6e4", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 4, "earlyHosts": 1}
    qwen = {"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e4", "namespace": "one"}
    second = {"name": "second", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e4", "namespace": "two"}

    def where(**over: object) -> object:
        graph = record(
            {
                "llmd-gke:cluster": {"name": "llmd-eu4a", "zone": "us-east5-a", "minVersion": "1.35"},
                "llmd-gke:pools": [{**pool, "capacity": "flex-start"}],
                "llmd-gke:models": [{**qwen, **over}, {**second, **over}],
            },
            preview=True,
        )
        (job,) = of(JOB)(graph)
        return kinds.metadata(job, "namespace")

    assert where() == where(stopped=True) == "one"
