"""What a change of settings does to the whole graph on the real engine, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest
import yaml

from llmd_gke.repository import CLONE
from tests.real_engine.harness import Rehearsal

Cloud = dict[str, Mapping[str, object]]

UP = ("up", "--yes", "--skip-preview")

MODELS = yaml.safe_load((CLONE / "Pulumi.local.yaml").read_text())["config"]["llmd-gke:models"]
SECOND = {"name": "phi", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e4"}

OF_A_MODEL = {
    "{}",
    "{}-account",
    "{}-route",
    "{}-health-pool",
    "{}-health-service",
    "{}-backend-pool",
    "{}-backend-service",
    "{}-allow-picker",
    "{}-allow-workload",
    "{}-tpu",
    "{}-service",
    "{}-rollout",
    "cloud-monitoring-{}-uptime",
    "cloud-monitoring-picker-metrics-absent-{}",
}
"""Every resource of a model, by its name in the state. Alerts on objectives belong to all models with the same ones."""

OF_ALL_MODELS = {
    "cloud-monitoring-dashboard",
    "cloud-monitoring-endpoint-unreachable",
    "cloud-monitoring-model-lost-replicas",
}
"""What names every model."""


REPLACED = "delete-replaced"


def changes(steps: dict[str, str]) -> dict[str, str]:
    """The steps that do something."""
    return {name: step for name, step in steps.items() if step != "same"}


def besides_monitoring(cloud: Cloud) -> Cloud:
    """What serves, but for the Deployments of KServe, which is not here to delete them."""
    return {
        ident: entry
        for ident, entry in cloud.items()
        if not str(entry["type"]).startswith("gcp:monitoring/") and not ident.endswith("-kserve")
    }


def pool(config: dict[str, Any]) -> dict[str, Any]:
    return config["llmd-gke:pools"][0]


def services(rehearsal: Rehearsal) -> list[str]:
    """The LLMInferenceServices in the cloud."""
    return [ident for ident, entry in rehearsal.cloud().items() if str(entry["type"]).endswith("/LLMInferenceService")]


def a_second_model(config: dict[str, Any]) -> None:
    """Beside the first, on the same pool, which is as large as before: it says that it has no spare host."""
    pool(config).update(updatesNeedStop=True)
    config["llmd-gke:models"].append(dict(SECOND))


def test_a_model_more_is_made_the_first_may_go_and_nothing_else_is_touched(running: Rehearsal) -> None:
    before = besides_monitoring(running.cloud())
    second = {name.format("phi") for name in OF_A_MODEL}
    first = {name.format("qwen") for name in OF_A_MODEL}
    common = dict.fromkeys(OF_ALL_MODELS, "update")

    running.edit("local", a_second_model)
    assert changes(running.steps(*UP)) == dict.fromkeys(second, "create") | common
    added = besides_monitoring(running.cloud())
    assert {ident: added[ident] for ident in before} == before
    assert all("phi" in ident for ident in added.keys() - before.keys())

    running.edit("local", lambda config: config["llmd-gke:models"].pop(0))
    assert changes(running.steps(*UP)) == dict.fromkeys(first, "delete") | common
    left = besides_monitoring(running.cloud())
    assert left == {ident: added[ident] for ident in left}
    assert all("qwen" in ident for ident in added.keys() - left.keys())

    running.edit("local", lambda config: config.update({"llmd-gke:models": MODELS}))
    back = dict.fromkeys(second, "delete") | dict.fromkeys(first, "create")
    assert changes(running.steps(*UP)) == back | common
    again = besides_monitoring(running.cloud())  # what was recreated has another uid
    assert {ident: entry["inputs"] for ident, entry in again.items()} == {
        ident: entry["inputs"] for ident, entry in before.items()
    }


def test_a_compile_cache_brings_its_bucket_and_grants_to_that_model_alone(running: Rehearsal) -> None:
    def with_cache(config: dict[str, Any]) -> None:
        config["llmd-gke:models"][0]["compileCache"] = "gs://my-cache/qwen"
        config["llmd-gke:storage"] = {"buckets": ["my-cache"]}

    running.edit("local", with_cache)
    assert changes(running.steps(*UP)) == {
        "project-storage": "create",
        "storage": "create",
        "storage-my-cache": "create",
        "storage-qwen-my-cache-read": "create",
        "storage-qwen-my-cache-write": "create",
        "qwen-tpu": "update",
        "qwen-rollout": REPLACED,
        "qwen-allow-workload": "update",
    }
    grants = running.kept()["policies"]["b/my-cache"]["bindings"]
    members = [member for grant in grants for member in grant["members"]]
    assert {member.rpartition("/subject/")[2] for member in members} == {"ns/models/sa/llmd-local-qwen"}
    assert [grant["condition"]["expression"] for grant in grants if "condition" in grant] == [
        'resource.name.startsWith("projects/_/buckets/my-cache/objects/qwen/")'
    ]
    assert changes(running.steps(*UP)) == {}


def test_weights_in_a_bucket_bring_a_job_and_another_revision_another_one(running: Rehearsal) -> None:
    def with_copy(config: dict[str, Any]) -> None:
        config["llmd-gke:models"][0]["weightsCache"] = "gs://my-weights"
        config["llmd-gke:storage"] = {"buckets": ["my-weights"]}

    def jobs() -> set[str]:
        return {ident for ident, entry in running.cloud().items() if str(entry["type"]).endswith("/Job")}

    running.edit("local", with_copy)
    grants = {f"storage-qwen-{grant}" for grant in ("my-weights-read", "copy-my-weights-read", "copy-my-weights-write")}
    copied = {"qwen-weights", "qwen-weights-account", "qwen-weights-allow", "qwen-weights-job"}
    made = {"project-storage", "storage", "storage-my-weights"} | grants | copied
    changed = {"qwen-tpu", "qwen-allow-workload", "qwen-service"}
    expected = dict.fromkeys(made, "create") | dict.fromkeys(changed, "update") | {"qwen-rollout": REPLACED}
    assert changes(running.steps(*UP)) == expected
    (first,) = jobs()
    assert changes(running.steps(*UP)) == {}

    running.edit("local", lambda config: config["llmd-gke:models"][0].update(uri=f"{MODELS[0]['uri']}:0a1b2c3"))
    steps = changes(running.steps(*UP))
    moved = {"qwen-weights-account", "qwen-weights-job", *(grants - {"storage-qwen-my-weights-read"})}
    assert set(steps) == moved | {"qwen-tpu", "qwen-service", "qwen-rollout"}
    assert all("replace" in steps[name] for name in moved)
    (second,) = jobs()
    assert first != second


def test_early_hosts_change_nothing_in_a_pool_that_exists_and_come_with_a_new_one(running: Rehearsal) -> None:
    running.edit("local", lambda config: pool(config).update(earlyHosts=1))
    assert changes(running.steps(*UP)) == {}

    def with_pool(config: dict[str, Any]) -> None:
        config["llmd-gke:pools"].append({**pool(config), "name": "more"})

    running.edit("local", with_pool)
    assert changes(running.steps(*UP)) == {"more": "create", "more-nodes": "create"}
    assert changes(running.steps(*UP)) == {}
    cloud = cast("dict[str, dict[str, Any]]", running.cloud())
    (made,) = [entry["inputs"] for entry in cloud.values() if entry["inputs"].get("name") == "more"]
    assert (made["initialNodeCount"], made["autoscaling"].get("minNodeCount", 0)) == (1, 0)


@pytest.mark.parametrize("arguments", [("preview",), UP])
def test_a_stack_that_is_up_refuses_another_project(running: Rehearsal, arguments: tuple[str, ...]) -> None:
    before = running.cloud()
    running.edit("local", lambda config: config.update({"gcp:project": "another-project"}))
    refused = running.pulumi(*arguments, "--stack", "local", check=False)
    shown = refused.stdout
    assert refused.returncode != 0
    assert "this stack is in project rehearsal, and its resources cannot move to another project" in shown
    assert "pulumi config set gcp:project rehearsal" in shown
    assert running.cloud() == before
