"""The Job that asks for early hosts: it needs what the model's pods need, and cannot hold a host for long."""

from __future__ import annotations

from typing import Any, cast

import pytest

from llmd_gke.manifests import early_hosts
from llmd_gke.manifests.server_pod import node_selector, tolerations
from llmd_gke.settings import ModelSettings, PoolSettings
from llmd_gke.settings.sections.capacity import CapacitySettings

MODEL = ModelSettings(name="m", uri="hf://a/b", pool="v6e4")
LIST = (CapacitySettings(kind="on-demand"), CapacitySettings(kind="spot"))


def pool(**over: Any) -> PoolSettings:
    kind: dict[str, Any] = {"capacity": "flex-start", "early_hosts": 2, **over}
    return PoolSettings(name="v6e4", machine_type="ct6e-standard-4t", topology="2x2", max_nodes=4, **kind)


def job_spec(made: PoolSettings, model: ModelSettings = MODEL) -> dict[str, Any]:
    return cast("dict[str, Any]", early_hosts.job(made, model)["spec"])


def pod_spec(made: PoolSettings, model: ModelSettings = MODEL) -> dict[str, Any]:
    return job_spec(made, model)["template"]["spec"]


@pytest.mark.parametrize("capacity", ["flex-start", LIST])
def test_its_pods_go_where_the_models_pods_go_and_take_all_chips_of_a_host(capacity: object) -> None:
    made = pool(capacity=capacity)
    spec = pod_spec(made)
    assert (spec["nodeSelector"], spec["tolerations"]) == (node_selector(made), tolerations(made))
    for kind in ("requests", "limits"):
        assert spec["containers"][0]["resources"][kind]["google.com/tpu"] == "4"


def test_there_is_a_pod_for_each_early_host_which_ends_at_once_or_within_the_hour_if_it_cannot_start() -> None:
    made = pool(early_hosts=3)
    spec = job_spec(made)
    assert (spec["parallelism"], spec["completions"], spec["activeDeadlineSeconds"]) == (3, 3, 3600)
    assert pod_spec(made)["containers"][0]["command"] == ["true"]


def test_it_pulls_the_image_that_the_server_needs() -> None:
    private = MODEL.model_copy(update={"image": "registry.example/vllm:1", "private_image": True})
    spec = pod_spec(pool(), private)
    assert spec["containers"][0]["image"] == "registry.example/vllm:1"
    assert spec["imagePullSecrets"] == [{"name": "image-pull-secret"}]
    assert "imagePullSecrets" not in pod_spec(pool())
