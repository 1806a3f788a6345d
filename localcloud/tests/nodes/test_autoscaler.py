from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from localcloud.nodes import autoscaler, nodes, scheduling
from localcloud.nodes.autoscaler import NodeGroup, Unit
from localcloud.tests.nodes.objects import TAINT, pod, system_pool, tpu_pool


def group(pool: Any, size: int = 0, *, in_backoff: bool = False) -> NodeGroup:
    template = nodes.template(pool, pool.zones[0])
    return NodeGroup(
        pool=pool.id,
        name=pool.name,
        size=size,
        maximum=pool.maximum,
        step=pool.hosts,
        template=template,
        in_backoff=in_backoff,
    )


def test_a_pod_that_fits_nowhere_gets_a_node() -> None:
    pool = tpu_pool()
    waiting = pod(4)
    plan = autoscaler.grow([waiting], [group(pool)], [])
    assert plan.increase == {pool.id: 1}
    assert plan.triggered == {waiting["metadata"]["uid"]: "pod triggered scale-up: [{v6e 0->1 (max: 4)}]"}


def test_two_pods_that_share_a_node_get_one() -> None:
    plan = autoscaler.grow([pod(2), pod(2)], [group(tpu_pool())], [])
    assert list(plan.increase.values()) == [1]
    assert len(plan.triggered) == 1


def test_a_node_on_its_way_is_counted_on() -> None:
    template = nodes.template(tpu_pool(), "europe-west4-a")
    node = scheduling.empty_node(template.labels, template.taints, template.allocatable)
    plan = autoscaler.grow([pod(4), pod(4)], [group(tpu_pool(), 1)], [node])
    assert list(plan.increase.values()) == [1]


def test_a_full_pool_does_not_grow_and_the_pod_is_told() -> None:
    waiting = pod(4)
    plan = autoscaler.grow([waiting], [group(tpu_pool(maximum=2), 2)], [])
    assert plan.increase == {}
    assert plan.refused == {waiting["metadata"]["uid"]: "pod didn't trigger scale-up: 1 max node group size reached"}


def test_the_first_priority_of_a_compute_class_grows_although_another_pool_has_smaller_nodes() -> None:
    small, preferred = tpu_pool("small", vcpus=8), tpu_pool("preferred")
    groups = [replace(group(small), priority=1), group(preferred)]
    assert autoscaler.grow([pod(4)], groups, []).increase == {preferred.id: 1}
    assert autoscaler.grow([pod(4)], [group(small), group(preferred)], []).increase == {small.id: 1}


def test_without_stock_for_the_first_priority_the_second_grows() -> None:
    first, second = tpu_pool("first"), tpu_pool("second")
    groups = [replace(group(second), priority=1), group(first, in_backoff=True)]
    assert autoscaler.grow([pod(4)], groups, []).increase == {second.id: 1}


def test_a_pool_without_stock_a_moment_ago_is_left_alone_and_the_pod_is_told() -> None:
    waiting = pod(4)
    plan = autoscaler.grow([waiting], [group(tpu_pool(), in_backoff=True)], [])
    assert plan.increase == {}
    refused = {waiting["metadata"]["uid"]: "pod didn't trigger scale-up: 1 in backoff after failed scale-up"}
    assert plan.refused == refused


def test_the_plan_names_the_pool_that_grows_for_a_pod() -> None:
    waiting, pool = pod(4), tpu_pool()
    assert autoscaler.grow([waiting], [group(pool)], []).pool_for == {waiting["metadata"]["uid"]: pool.id}


def test_reasons_are_the_schedulers() -> None:
    waiting = pod(4, nodeSelector={"cloud.google.com/gke-tpu-topology": "4x4"})
    untolerated = pod(0, cpu="100", nodeSelector={})
    plan = autoscaler.grow([waiting, untolerated], [group(tpu_pool()), group(system_pool())], [])
    assert plan.refused[waiting["metadata"]["uid"]] == (
        "pod didn't trigger scale-up: 2 node(s) didn't match Pod's node affinity/selector"
    )
    assert plan.refused[untolerated["metadata"]["uid"]] == (
        "pod didn't trigger scale-up: 1 Insufficient cpu, 1 node(s) had untolerated taint {google.com/tpu: present}"
    )


def test_a_pod_without_chips_takes_a_node_without_chips() -> None:
    plan = autoscaler.grow([pod(cpu="4")], [group(tpu_pool(taints=())), group(system_pool())], [])
    assert list(plan.increase) == [system_pool().id]


def test_a_multi_host_slice_comes_as_a_whole_and_once() -> None:
    pool = tpu_pool("multi", "4x4", hosts=4, maximum=8)
    plan = autoscaler.grow([pod(4) for _ in range(4)], [group(pool)], [])
    assert plan.increase == {pool.id: 4}


def test_half_a_slice_is_not_made() -> None:
    plan = autoscaler.grow([pod(4)], [group(tpu_pool("multi", "4x4", hosts=4, maximum=6), 4)], [])
    assert plan.increase == {}


IDLE = [Unit("p", ("a",), 100.0), Unit("p", ("b",), 50.0), Unit("p", ("c",), 0.0)]


def test_only_what_was_idle_long_enough_goes() -> None:
    assert autoscaler.shrink(IDLE, {"p": 0}, {"p": 3}, 60) == [IDLE[0]]


def test_the_pools_minimum_stays() -> None:
    assert autoscaler.shrink(IDLE, {"p": 2}, {"p": 3}, 10) == [IDLE[0]]
    assert autoscaler.shrink(IDLE, {"p": 3}, {"p": 3}, 10) == []


def test_a_slice_goes_as_a_whole() -> None:
    unit = Unit("m", ("a", "b", "c", "d"), 100.0)
    assert autoscaler.shrink([unit], {"m": 0}, {"m": 4}, 60) == [unit]
    assert autoscaler.shrink([unit], {"m": 1}, {"m": 4}, 60) == []


@pytest.mark.parametrize(
    ("phase", "owner", "counts"),
    [("Running", "ReplicaSet", True), ("Succeeded", "Job", False), ("Running", "DaemonSet", False)],
)
def test_what_keeps_a_node(phase: str, owner: str, counts: bool) -> None:
    one = pod()
    one["metadata"]["ownerReferences"] = [{"kind": owner}]
    one["status"] = {"phase": phase}
    assert autoscaler.occupies(one) is counts


def test_only_pods_that_the_scheduler_gave_up_on_count() -> None:
    fresh, given_up = pod(), pod()
    given_up["status"] = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}
    gated = pod()
    gated["status"] = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}
    assert [autoscaler.unschedulable(one) for one in (fresh, given_up, gated)] == [False, True, False]


def test_init_containers_and_side_cars_count_as_the_scheduler_counts_them() -> None:
    one = pod(cpu="2")
    one["spec"]["initContainers"] = [
        {"name": "a", "resources": {"requests": {"cpu": "1"}}, "restartPolicy": "Always"},
        {"name": "b", "resources": {"requests": {"cpu": "4"}}},
    ]
    # The side-car runs while b runs (1 + 4) and beside the main container (1 + 2).
    assert scheduling.requests_of(one)["cpu"] == 5
    one["spec"]["initContainers"][1]["resources"]["requests"]["cpu"] = "500m"
    assert scheduling.requests_of(one)["cpu"] == 3


@pytest.mark.parametrize(
    ("toleration", "fits"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "google.com/tpu", "value": "present"}, True),
        ({"key": "google.com/tpu", "value": "absent"}, False),
        ({"key": "google.com/tpu", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "nvidia.com/gpu", "operator": "Exists"}, False),
    ],
)
def test_tolerations(toleration: dict[str, str], fits: bool) -> None:
    node = scheduling.empty_node({}, (TAINT,), {"cpu": "8", "pods": "110"})
    assert (scheduling.unschedulable_reason(pod(tolerations=[toleration]), node) == "") is fits


@pytest.mark.parametrize(
    ("rule", "fits"),
    [
        ({"key": "zone", "operator": "In", "values": ["a", "b"]}, True),
        ({"key": "zone", "operator": "NotIn", "values": ["a"]}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "other", "operator": "DoesNotExist"}, True),
        ({"key": "chips", "operator": "Gt", "values": ["3"]}, True),
        ({"key": "chips", "operator": "Lt", "values": ["4"]}, False),
    ],
)
def test_node_affinity(rule: dict[str, Any], fits: bool) -> None:
    terms = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    node = scheduling.empty_node({"zone": "a", "chips": "4"}, (), {"cpu": "8", "pods": "110"})
    assert (scheduling.unschedulable_reason(pod(affinity=affinity), node) == "") is fits
