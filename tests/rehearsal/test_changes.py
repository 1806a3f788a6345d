"""What a change of settings does to the whole graph on the real engine, and what it leaves alone."""

from __future__ import annotations

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


def test_a_model_more_is_made_and_taken_away_and_nothing_else_is_touched(rehearsal: Rehearsal) -> None:
    rehearsal.edit("local", lambda config: pool(config).update(maxNodes=6))
    rehearsal.up()
    before = rehearsal.cloud()
    own = {name.format("phi") for name in OF_A_MODEL}

    rehearsal.edit("local", lambda config: config["llmd-gke:models"].append(dict(SECOND)))
    assert changes(rehearsal.steps(*UP)) == dict.fromkeys(own, "create")
    added = rehearsal.cloud()
    assert {ident: added[ident] for ident in before} == before
    assert all("phi" in ident for ident in added.keys() - before.keys())

    rehearsal.edit("local", lambda config: config["llmd-gke:models"].pop())
    assert changes(rehearsal.steps(*UP)) == dict.fromkeys(own, "delete")
    assert rehearsal.cloud() == before


def test_the_first_model_may_go_while_the_second_serves(rehearsal: Rehearsal) -> None:
    def both(config: dict[str, Any]) -> None:
        pool(config).update(maxNodes=6)
        config["llmd-gke:models"].append(dict(SECOND))

    rehearsal.edit("local", both)
    rehearsal.up()
    rehearsal.edit("local", lambda config: config["llmd-gke:models"].pop(0))
    steps = changes(rehearsal.steps(*UP))
    assert steps == dict.fromkeys({name.format("qwen") for name in OF_A_MODEL}, "delete")


def test_another_machine_type_rolls_through_the_pool_and_its_model_and_keeps_the_rest(rehearsal: Rehearsal) -> None:
    rehearsal.up()
    address = gateway_ip(rehearsal)
    rehearsal.edit("local", lambda config: pool(config).update(machineType="ct6e-standard-8t", topology="2x4"))
    # Other chips: node selector and tensor parallelism of the server follow. Every object stays the same object.
    assert changes(rehearsal.steps(*UP)) == {"v6e4-nodes": "update", "qwen-tpu": "update", "qwen-service": "update"}
    assert gateway_ip(rehearsal) == address
    assert "ct6e-standard-8t" in str(rehearsal.cloud())
    assert "ct6e-standard-4t" not in str(rehearsal.cloud())


def test_another_capacity_replaces_the_pool_and_leaves_its_model_alone(rehearsal: Rehearsal) -> None:
    rehearsal.up()
    before = rehearsal.cloud()
    rehearsal.edit("local", lambda config: pool(config).update(capacity="spot"))
    steps = changes(rehearsal.steps(*UP))
    assert set(steps) == {"v6e4-nodes"}
    assert "replace" in steps["v6e4-nodes"]
    after = rehearsal.cloud()
    assert {ident for ident in before if before[ident] != after.get(ident)} == {
        ident for ident in before if ident.endswith("/nodePools/v6e4")
    }


def test_a_wider_pool_is_changed_in_place_and_alone(rehearsal: Rehearsal) -> None:
    rehearsal.up()
    rehearsal.edit("local", lambda config: pool(config).update(maxNodes=8))
    assert changes(rehearsal.steps(*UP)) == {"v6e4-nodes": "update"}


@pytest.mark.parametrize("stack", ["eu4a", "dev"])
def test_a_stack_for_google_cloud_comes_up_and_goes_on_the_stand_ins(stack: str, rehearsal: Rehearsal) -> None:
    assert "created" in rehearsal.up(stack).stdout
    assert len(services(rehearsal)) == 1
    assert changes(rehearsal.steps(*UP, stack=stack)) == {}
    assert "Nothing is left" in rehearsal.down("--stack", stack).stdout
    assert rehearsal.cloud() == {}
