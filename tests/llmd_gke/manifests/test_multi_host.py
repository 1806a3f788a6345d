"""Pods, preset and policies of a model that spans hosts."""

from __future__ import annotations

from math import prod
from typing import Any, cast

import pytest

from llmd_gke.catalog import accelerators
from llmd_gke.manifests import firewall, multi_host, naming, server_pod, serving
from llmd_gke.settings import GatewaySettings, ModelSettings, NetworkSettings, PoolSettings
from tests.llmd_gke.manifests.conftest import MakeModel, MakePool

SLICES = [
    pytest.param(shape.machine.name, shape.topology, id=f"{family.name}-{shape.topology}")
    for family in accelerators.FAMILIES
    for shape in family.slices()
    if shape.multi_host
]


@pytest.fixture
def slice_(make_pool: MakePool) -> PoolSettings:
    return make_pool(machine_type="ct6e-standard-4t", topology="4x4", max_nodes=4)


@pytest.fixture
def big(make_model: MakeModel) -> ModelSettings:
    return make_model(replicas=1, experimental_multi_host=True)


def spec_of(model: ModelSettings, pool: PoolSettings) -> dict[str, Any]:
    return cast("Any", serving.runtime_config(model, pool))["spec"]


@pytest.mark.parametrize(("machine", "topology"), SLICES)
def test_a_group_has_a_pod_for_each_host_and_its_server_spans_every_device(
    make_pool: MakePool, big: ModelSettings, machine: str, topology: str
) -> None:
    pool = make_pool(machine_type=machine, topology=topology)
    group = cast("Any", serving.service(big, pool))["spec"]["parallelism"]
    per_chip = 2 if machine.startswith("tpu7x") else 1
    devices = prod(int(side) for side in topology.split("x")) * per_chip
    assert group["tensor"] * group["pipeline"] == devices
    arguments = server_pod.server_arguments(big, pool)
    assert arguments[arguments.index("--tensor-parallel-size") + 1] == str(devices)
    for role in ("template", "worker"):
        limits = spec_of(big, pool)[role]["containers"][0]["resources"]["limits"]
        assert int(limits["google.com/tpu"]) * per_chip == group["tensor"]


def test_layers_may_be_split_into_stages(make_model: MakeModel, slice_: PoolSettings) -> None:
    model = make_model(pipeline_parallel=4, experimental_multi_host=True)
    arguments = server_pod.server_arguments(model, slice_)
    assert arguments[arguments.index("--tensor-parallel-size") + 1] == "4"
    assert arguments[arguments.index("--pipeline-parallel-size") + 1] == "4"


def test_leader_and_worker_are_on_the_slice_and_differ_in_what_they_run(
    big: ModelSettings, slice_: PoolSettings
) -> None:
    spec = spec_of(big, slice_)
    leader, worker = spec["template"], spec["worker"]
    for pod in (leader, worker):
        assert pod["nodeSelector"]["cloud.google.com/gke-tpu-topology"] == "4x4"
        assert pod["tolerations"] == [{"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"}]
        shared = [one for one in leader["volumes"] if one["name"] != "warm-up"]
        assert [one for one in pod["volumes"] if one["name"] != "warm-up"] == shared, "every host reads the weights"
    assert [one["name"] for one in leader["containers"]] == ["main", "warm-up"]
    assert [one["name"] for one in worker["containers"]] == ["main"]
    serves, joins = leader["containers"][0], worker["containers"][0]
    assert serves["command"][3:] == ["leader", "vllm", "serve", "/mnt/models"]
    assert joins["command"][3:] == ["worker"]
    assert serves["args"] == server_pod.server_arguments(big, slice_)
    assert "args" not in joins
    assert joins["image"] == serves["image"]
    assert joins["env"] == serves["env"]
    assert {"name": "TPU_MULTIHOST_BACKEND", "value": "ray"} in joins["env"]


def test_only_the_leader_is_probed(big: ModelSettings, slice_: PoolSettings) -> None:
    spec = spec_of(big, slice_)
    assert "startupProbe" in spec["template"]["containers"][0]
    assert [key for key in spec["worker"]["containers"][0] if key.endswith("Probe")] == []


def test_a_group_has_its_slice_to_itself(big: ModelSettings, slice_: PoolSettings) -> None:
    service = cast("Any", serving.service(big, slice_))
    assert service["metadata"]["annotations"][multi_host.EXCLUSIVE] == "cloud.google.com/gke-nodepool"
    assert service["spec"]["worker"] == {"containers": [{"name": "main"}]}


def test_buckets_are_for_workers_too(make_model: MakeModel, slice_: PoolSettings) -> None:
    model = make_model(uri="gs://weights/big", experimental_multi_host=True, private_image=True)
    for pod in (spec_of(model, slice_)["template"], spec_of(model, slice_)["worker"]):
        assert pod["automountServiceAccountToken"] is False
        assert pod["imagePullSecrets"] == [{"name": "image-pull-secret"}]
        assert "weights" in {volume["name"] for volume in pod["volumes"]}
        assert "/mnt/models" in {mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}


def test_a_model_on_one_host_has_nothing_of_all_this(model: ModelSettings, pool: PoolSettings) -> None:
    spec = spec_of(model, pool)
    assert set(spec) == {"template", "annotations"}
    assert spec["template"]["containers"][0]["command"] == ["vllm", "serve", "/mnt/models"]
    service = cast("Any", serving.service(model, pool))
    assert "worker" not in service["spec"]
    assert multi_host.EXCLUSIVE not in service["metadata"]["annotations"]
    assert "allow-group" not in firewall.model_policies(model, NetworkSettings(), GatewaySettings())


def test_every_mount_of_the_preset_has_its_volume(big: ModelSettings, slice_: PoolSettings) -> None:
    preset = cast("Any", multi_host.preset("models"))
    assert preset["metadata"] == {"name": "kserve-config-llm-worker-pipeline-parallel", "namespace": "models"}
    for role in ("template", "worker"):
        pod = preset["spec"][role]
        mounted = {mount["name"] for mount in pod["containers"][0]["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}
        assert "dshm" in mounted, "the model's own configuration sizes it"
        assert {"name": "dshm"}.items() <= spec_of(big, slice_)[role]["volumes"][0].items()


def test_the_pods_of_a_group_reach_each_other_and_requests_reach_leaders_only(big: ModelSettings) -> None:
    policies = cast("Any", firewall.model_policies(big, NetworkSettings(), GatewaySettings(), spans_hosts=True))
    group = policies["allow-group"]["spec"]
    selector = naming.group_selector("qwen")
    assert group["podSelector"] == selector
    assert group["ingress"] == [{"from": [{"podSelector": selector}]}]
    assert {"to": [{"podSelector": selector}]} in group["egress"]
    downloads = [rule for rule in policies["allow-workload"]["spec"]["egress"] if rule]
    assert [rule for rule in downloads if rule not in group["egress"]] == [], "workers download as leaders do"
    assert policies["allow-workload"]["spec"]["podSelector"] == {"matchLabels": naming.workload_labels("qwen")}
