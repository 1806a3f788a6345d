from __future__ import annotations

from typing import Any

import pytest

from localcloud.nodes import autoscaler, scheduling
from localcloud.tests.nodes.objects import TAINT, group, pod, system_pool, tpu_pool


def test_two_pods_that_share_a_node_get_one() -> None:
    plan = autoscaler.grow([pod(2), pod(2)], [group(tpu_pool())], [])
    assert list(plan.increase.values()) == [1]
    assert len(plan.triggered) == 1


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
