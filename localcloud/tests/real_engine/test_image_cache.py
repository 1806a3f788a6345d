"""An image cache on the real engine: what a running stack gets by it, and loses again."""

from __future__ import annotations

from typing import Any

from localcloud.tests.real_engine.test_changes import UP, changes
from tests.real_engine.harness import Rehearsal

KEY = "llmd-gke:imageCache"
PARTS = {"image-cache", *(f"image-cache-{one}" for one in ("docker-hub", "ghcr", "k8s", "quay"))}


def cached(config: dict[str, Any]) -> None:
    config[KEY] = {"keepDays": 7}


def not_cached(config: dict[str, Any]) -> None:
    del config[KEY]


def test_a_running_stack_gets_an_image_cache_and_loses_it_again_without_a_replacement(running: Rehearsal) -> None:
    running.edit("local", cached)
    steps = changes(running.steps(*UP))
    assert {name: step for name, step in steps.items() if step not in ("create", "update")} == {}
    assert {name for name, step in steps.items() if step == "create"} == PARTS
    assert {"platform-cert-manager", "platform-lws", "qwen-service"} <= steps.keys()
    assert changes(running.steps("up", "--yes", "--skip-preview", "--refresh")) == {}
    running.edit("local", not_cached)
    steps = changes(running.steps(*UP))
    assert {name for name, step in steps.items() if step == "delete"} == PARTS
    assert set(steps.values()) == {"update", "delete"}
