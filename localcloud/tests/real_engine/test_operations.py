"""The operator's commands on a stack that the real engine brought up, and on the engine's real plan."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from localcloud.common.workdir import cache_folder
from localcloud.pulumi_cli import resolve
from operations import outputs
from operations.comment import changes
from operations.exits import NotUp, SetUpFailed
from operations.options import Cloud
from operations.target import Target
from tests.real_engine.harness import Rehearsal


@pytest.fixture
def target(running: Rehearsal, monkeypatch: pytest.MonkeyPatch) -> Target:
    monkeypatch.setenv("LLMD_GKE_HOME", str(running.workdir.home))
    monkeypatch.setenv("LLMD_GKE_CLOUD", "rehearsal")
    return Target("local", Cloud.REHEARSAL, running.root)


def test_the_engine_tells_a_missing_stack_and_a_missing_login_by_its_exit_status(
    engine: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = resolve.ready(cache_folder())
    assert ready is not None
    (tmp_path / "Pulumi.yaml").write_text("name: llmd-gke\nruntime: yaml\n")
    (tmp_path / "state").mkdir()
    monkeypatch.setenv("PATH", f"{ready.pulumi.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "pulumi"))
    monkeypatch.delenv("PULUMI_ACCESS_TOKEN", raising=False)
    monkeypatch.delenv("PULUMI_BACKEND_URL", raising=False)
    nowhere = Target("two", Cloud.GOOGLE, tmp_path)
    with pytest.raises(SetUpFailed, match="not logged in"):
        outputs.read(nowhere)
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{tmp_path}/state")
    with pytest.raises(NotUp, match="two does not exist"):
        outputs.read(nowhere)
    with pytest.raises(NotUp, match="two does not exist"):
        outputs.last_steps(nowhere)


def another_capacity_and_name(settings: dict[str, Any]) -> None:
    settings["llmd-gke:pools"][0]["capacity"] = "spot"  # replaces the pool
    settings["llmd-gke:models"][0]["name"] = "other"


def test_outputs_and_the_plan_of_a_change_are_read_from_the_engine(
    running: Rehearsal, target: Target, tmp_path: Path
) -> None:
    rehearsal = running
    with pytest.raises(NotUp, match="Fix: make up STACK=eu4a"):
        outputs.read(replace(target, stack="eu4a"))
    values = outputs.read(target)
    assert values.models == (
        outputs.Endpoint("qwen", f"http://{values.gateway_ip}/models/qwen", "qwen"),
    )  # fmt: skip
    assert values.cluster["name"] == "llmd-local"
    assert values.values["kubeconfig"] == "[secret]"
    assert "gke-gcloud-auth-plugin" in outputs.kubeconfig(target)

    rehearsal.edit("local", another_capacity_and_name)
    rehearsal.events("preview")
    # A model that does not exist yet has its URL in the preview, since the address is there.
    assert f"http://{values.gateway_ip}/models/other" in (rehearsal.folder / "events.jsonl").read_text()
    copy = str(rehearsal.workdir.stack_copy("local"))
    plan = tmp_path / "plan.json"
    plan.write_text(rehearsal.runner().ask("preview", "--json", "--stack", "local", "--config-file", copy))
    planned = {(one.op, one.name): dict(one.details) for one in changes.planned(plan)}
    assert planned["replace", "v6e4-nodes"]["nodeConfig.spot"] == changes.REPLACES
    assert ("create", "other-service") in planned
    assert ("delete", "qwen-service") in planned
    assert ("create", "other") not in planned  # a component is no resource
    assert {op for op, _ in planned} <= set(changes.OPS)
    assert json.loads(plan.read_text())["changeSummary"]["replace"] == sum(op == "replace" for op, _ in planned)
