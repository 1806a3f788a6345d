from __future__ import annotations

import re

from llmd_gke.manifests.server_pod import node_selector
from llmd_gke.settings import TpuPoolSettings
from localcloud.nodes import nodes
from localcloud.nodes.quantity import integer_of, value_of
from localcloud.tests.nodes.objects import system_pool, tpu_pool


def made(pool=None, index=3):
    pool = pool or tpu_pool()
    return nodes.node(pool, "europe-west4-a", index, name=nodes.name_of(pool), slice_name="s", version="v1.36.3")


def test_a_tpu_node_has_what_the_programs_pods_select() -> None:
    pool = TpuPoolSettings.model_validate(
        {"name": "v6e", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 1}
    )
    selector = node_selector(pool)
    labels = made()["metadata"]["labels"]
    assert {key: labels.get(key) for key in selector} == selector


def test_a_tpu_node_offers_its_chips_and_keeps_other_pods_off() -> None:
    node = made()
    assert node["status"]["allocatable"]["google.com/tpu"] == "4"
    assert node["spec"]["taints"] == [{"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"}]


def test_a_system_node_has_neither_chips_nor_taint() -> None:
    node = made(system_pool())
    assert "google.com/tpu" not in node["status"]["capacity"]
    assert node["spec"]["taints"] == []


def test_the_node_keeps_what_gke_reserves() -> None:
    # The worked example of https://cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes: e2-standard-4
    # style machines keep 60 + 10 + 5 + 5 millicores.
    assert nodes.reserved_millicores(1) == 60
    assert nodes.reserved_millicores(4) == 80
    assert nodes.reserved_millicores(8) == 90
    # 25 % of 4 GiB, 20 % of 4, 10 % of 8, 6 % of 16, and 100 MiB for eviction.
    assert nodes.reserved_mebibytes(32) == round((1 + 0.8 + 0.8 + 0.96) * 1024) + 100
    node = made(system_pool())
    assert value_of(node["status"]["allocatable"]["cpu"]) < value_of(node["status"]["capacity"]["cpu"])
    assert value_of(node["status"]["allocatable"]["memory"]) < value_of(node["status"]["capacity"]["memory"])


def test_the_programs_requests_fit_on_the_host_they_are_made_for() -> None:
    allocatable = made()["status"]["allocatable"]
    assert integer_of(allocatable["cpu"]) > 180 // 4
    assert value_of(allocatable["memory"]) > value_of(f"{720 // 2}G")


def test_names_are_valid_and_tell_the_pool() -> None:
    pool = tpu_pool("a-rather-long-name-of-a-pool-of-nodes")
    names = {nodes.name_of(pool) for _ in range(50)}
    assert len(names) > 45
    for name in names:
        assert re.fullmatch(r"gke-serving-a-rather-long-name-o-[0-9a-f]{8}-[a-z0-9]{4}", name)
        assert len(name) <= 63


def test_the_zone_and_region_are_the_instances() -> None:
    labels = made()["metadata"]["labels"]
    assert labels["topology.kubernetes.io/zone"] == "europe-west4-a"
    assert labels["topology.kubernetes.io/region"] == "europe-west4"
    assert made()["spec"]["providerID"].startswith("gce://demo/europe-west4-a/gke-serving-v6e-")
