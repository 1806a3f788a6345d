"""An autoscaled model on the real engine: what a stack gets by it, and that nothing is left to change afterwards."""

from __future__ import annotations

from typing import Any

from localcloud.tests.real_engine.test_changes import UP, changes
from tests.real_engine.harness import Rehearsal


def autoscale(config: dict[str, Any]) -> None:
    model = config["llmd-gke:models"][0]
    model.pop("replicas", None)
    model |= {"minReplicas": 1, "maxReplicas": 2}


def test_a_running_model_becomes_autoscaled_in_place_and_stays_as_it_is(running: Rehearsal) -> None:
    running.edit("local", autoscale)
    steps = changes(running.steps(*UP))
    assert {name: step for name, step in steps.items() if step not in ("create", "update")} == {}
    assert steps["qwen-service"] == "update"
    assert steps["qwen-replicas"] == "create"
    assert steps["autoscaler-keda"] == "create"
    assert changes(running.steps("up", "--yes", "--skip-preview", "--refresh")) == {}
