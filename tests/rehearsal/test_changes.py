"""What a change of settings does to the whole graph on the real engine, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.rehearsal.harness import Rehearsal

UP = ("up", "--yes", "--skip-preview")

SECOND = {"name": "phi", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e4"}

OF_A_MODEL = {
    "{}",
    "{}-route",
    "{}-health-pool",
    "{}-health-service",
    "{}-backend-pool",
    "{}-backend-service",
    "{}-allow-picker",
    "{}-allow-workload",
    "{}-tpu",
    "{}-service",
}
"""Every resource of a model, by its name in the state."""


def changes(steps: dict[str, str]) -> dict[str, str]:
    """The steps that do something."""
    return {name: step for name, step in steps.items() if step != "same"}


def pool(config: dict[str, Any]) -> dict[str, Any]:
    return config["llmd-gke:tpuPools"][0]


def gateway_ip(rehearsal: Rehearsal) -> str:
    return rehearsal.pulumi("stack", "output", "gatewayIp", "--stack", "local").stdout


def services(rehearsal: Rehearsal) -> list[str]:
    """The LLMInferenceServices in the cloud."""
    return [ident for ident, entry in rehearsal.cloud().items() if str(entry["type"]).endswith("/LLMInferenceService")]


def a_second_model(config: dict[str, Any]) -> None:
    """Beside the first, on the same pool, which is as large as before: it says that it has no spare host."""
    pool(config).update(updatesNeedStop=True)
    config["llmd-gke:models"].append(dict(SECOND))


def test_a_model_more_is_made_and_taken_away_and_nothing_else_is_touched(running: Rehearsal) -> None:
    rehearsal = running
    before = rehearsal.cloud()
    own = {name.format("phi") for name in OF_A_MODEL}

    rehearsal.edit("local", a_second_model)
    assert changes(rehearsal.steps(*UP)) == dict.fromkeys(own, "create")
    added = rehearsal.cloud()
    assert {ident: added[ident] for ident in before} == before
    assert all("phi" in ident for ident in added.keys() - before.keys())

    rehearsal.edit("local", lambda config: config["llmd-gke:models"].pop())
    assert changes(rehearsal.steps(*UP)) == dict.fromkeys(own, "delete")
    assert rehearsal.cloud() == before


def test_the_first_model_may_go_while_the_second_serves(running: Rehearsal) -> None:
    running.edit("local", a_second_model)
    running.steps(*UP)
    running.edit("local", lambda config: config["llmd-gke:models"].pop(0))
    steps = changes(running.steps(*UP))
    assert steps == dict.fromkeys({name.format("qwen") for name in OF_A_MODEL}, "delete")


def test_another_machine_type_rolls_through_the_pool_and_its_model_and_keeps_the_rest(running: Rehearsal) -> None:
    address = gateway_ip(running)
    running.edit("local", lambda config: pool(config).update(machineType="ct6e-standard-8t", topology="2x4"))
    # Other chips: node selector and tensor parallelism of the server follow. Every object stays the same object.
    assert changes(running.steps(*UP)) == {"v6e4-nodes": "update", "qwen-tpu": "update", "qwen-service": "update"}
    assert gateway_ip(running) == address
    assert "ct6e-standard-8t" in str(running.cloud())
    assert "ct6e-standard-4t" not in str(running.cloud())


def test_another_capacity_replaces_the_pool_and_leaves_its_model_alone(running: Rehearsal) -> None:
    before = running.cloud()
    running.edit("local", lambda config: pool(config).update(capacity="spot"))
    steps = changes(running.steps(*UP))
    assert set(steps) == {"v6e4-nodes"}
    assert "replace" in steps["v6e4-nodes"]
    after = running.cloud()
    assert {ident for ident in before if before[ident] != after.get(ident)} == {
        ident for ident in before if ident.endswith("/nodePools/v6e4")
    }


def test_a_wider_pool_is_changed_in_place_and_alone(running: Rehearsal) -> None:
    running.edit("local", lambda config: pool(config).update(maxNodes=8))
    assert changes(running.steps(*UP)) == {"v6e4-nodes": "update"}


def unprotected(config: dict[str, Any]) -> None:
    """As `prod` is shipped, but for what keeps it from being destroyed."""
    config["llmd-gke:cluster"].update(protect=False, deletionProtection=False)


def across_hosts(config: dict[str, Any]) -> None:
    """A model on four hosts, whose downloads are limited to names."""
    config["llmd-gke:network"] = {"egress": {"mode": "names"}}
    pool(config).update(topology="4x4", maxNodes=4)
    config["llmd-gke:models"][0].update(replicas=1, experimentalMultiHost=True)


STACKS: dict[str, tuple[str, Callable[[dict[str, Any]], None] | None]] = {
    "eu4a": ("eu4a", None),
    "dev": ("dev", None),
    "prod": ("prod", unprotected),
    "a model across hosts": ("eu4a", across_hosts),
}


@pytest.mark.parametrize("name", STACKS)
def test_a_stack_for_google_cloud_comes_up_and_goes_on_the_stand_ins(name: str, rehearsal: Rehearsal) -> None:
    stack, change = STACKS[name]
    if change is not None:
        rehearsal.edit(stack, change)
    assert "created" in rehearsal.up(stack).stdout
    assert len(services(rehearsal)) == 1
    assert changes(rehearsal.steps(*UP, stack=stack)) == {}
    if change is across_hosts:
        assert [ident for ident in rehearsal.cloud() if "kserve-config-llm-worker-pipeline-parallel" in ident]
    assert "Nothing is left" in rehearsal.down("--stack", stack).stdout
    assert rehearsal.cloud() == {}
