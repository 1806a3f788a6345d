"""Options that a running stack gets on the real engine: what is made, and that nothing is left to change afterwards."""

from __future__ import annotations

from typing import Any

from localcloud.tests.real_engine.test_changes import REPLACED, UP, changes
from tests.real_engine.harness import Rehearsal

KEY = "llmd-gke:imageCache"
PARTS = {"image-cache", *(f"image-cache-{one}" for one in ("docker-hub", "ghcr", "k8s", "quay"))}


def autoscale(config: dict[str, Any]) -> None:
    model = config["llmd-gke:models"][0]
    model.pop("replicas", None)
    model |= {"minReplicas": 1, "maxReplicas": 2}


def test_a_running_model_becomes_autoscaled_in_place_and_stays_as_it_is(running: Rehearsal) -> None:
    running.edit("local", autoscale)
    steps = changes(running.steps(*UP))
    assert steps.pop("qwen-rollout") == "delete", "what waits for pods is no object"
    assert {name: step for name, step in steps.items() if step not in ("create", "update")} == {}
    assert steps["qwen-service"] == "update"
    assert steps["qwen-replicas"] == "create"
    assert steps["autoscaler-keda"] == "create"
    assert changes(running.steps("up", "--yes", "--skip-preview", "--refresh")) == {}


def test_a_running_stack_gets_an_image_cache_and_loses_it_again_without_a_replacement(running: Rehearsal) -> None:
    running.edit("local", lambda config: config.update({KEY: {"keepDays": 7}}))
    steps = changes(running.steps(*UP))
    assert steps.pop("qwen-rollout") == REPLACED
    assert {name: step for name, step in steps.items() if step not in ("create", "update")} == {}
    assert {name for name, step in steps.items() if step == "create"} == PARTS
    assert {"platform-cert-manager", "platform-lws", "qwen-service"} <= steps.keys()
    assert changes(running.steps("up", "--yes", "--skip-preview", "--refresh")) == {}
    running.edit("local", lambda config: config.pop(KEY))
    steps = changes(running.steps(*UP))
    assert steps.pop("qwen-rollout") == REPLACED
    assert {name for name, step in steps.items() if step == "delete"} == PARTS
    assert set(steps.values()) == {"update", "delete"}


def in_order(config: dict[str, Any]) -> None:
    config["llmd-gke:pools"][0]["capacity"] = [{"kind": "on-demand"}, {"kind": "spot"}]


def test_a_running_pool_gets_a_list_of_capacities_without_a_new_service_and_stays_as_it_is(running: Rehearsal) -> None:
    running.edit("local", in_order)
    steps = changes(running.steps(*UP))
    (pool,) = {name.removesuffix("-class") for name in steps if name.endswith("-class")}
    assert steps.pop(f"{pool}-nodes") == "delete"
    for made in (f"{pool}-on-demand-nodes", f"{pool}-spot-nodes", f"{pool}-class"):
        assert steps.pop(made) == "create"
    # What selects the hosts changes in place; their pods are waited for.
    assert steps.pop("qwen-rollout") == REPLACED
    assert set(steps.values()) == {"update"}
    assert changes(running.steps("up", "--yes", "--skip-preview", "--refresh")) == {}


def test_hosts_of_a_list_are_asked_for_once_and_more_of_them_change_nothing_later(running: Rehearsal) -> None:
    running.edit("local", in_order)
    running.edit("local", lambda config: config["llmd-gke:pools"][0].update(earlyHosts=1))
    steps = changes(running.steps(*UP))
    assert {steps["v6e4-early-job"], steps["v6e4-early-suspended"]} == {"create"}
    running.edit("local", lambda config: config["llmd-gke:pools"][0].update(earlyHosts=2))
    assert changes(running.steps("up", "--yes", "--skip-preview", "--refresh")) == {}
