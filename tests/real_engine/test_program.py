"""The program on the real engine: life cycle, preview, replacement, outputs, secrets."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest

from llmd_gke.graph.recording import load
from llmd_gke.repository import CLONE
from llmd_gke.settings.validation import CLOUD_VARIABLE
from tests.real_engine.harness import Rehearsal

MODEL = "serving.kserve.io/v1alpha2/LLMInferenceService"
"""How the Kubernetes stand-in files it."""


@cache
def resources() -> int:
    """The number of resources of stack ``local``, by its recorded graph; with the stack itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CLOUD_VARIABLE, "rehearsal")
        return len(load(CLONE, "local").nodes)


def test_the_whole_graph_comes_up_from_an_empty_project_and_goes_without_a_trace(
    brought_up: Path, running: Rehearsal
) -> None:
    assert "policies" in (brought_up / "up.txt").read_text()
    there = {entry.get("type") for entry in running.cloud().values()}
    for kind in ("gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool", "helm.sh/v3/Release", MODEL):
        assert kind in there
    outputs = json.loads(running.pulumi("stack", "output", "--json", "--stack", "local").stdout)
    endpoint, ip = outputs["models"]["qwen"], outputs["gatewayIp"]
    assert endpoint == {"url": f"http://{ip}/models/qwen", "servedModelName": "qwen", "namespace": "models"}
    assert running.pulumi("stack", "output", "curl", "--stack", "local").stdout.startswith(
        f"curl {endpoint['url']}/v1/"
    )
    assert outputs["chips"] == 12
    assert outputs["kubeconfig"] == "[secret]"
    again = running.up().stdout
    assert f"{resources()} unchanged" in again
    running.edit("local", lambda config: config["llmd-gke:models"][0].update(name="other"))
    events = running.events("preview", check=False)
    planned = [event["resOutputsEvent"]["metadata"] for event in events if "resOutputsEvent" in event]
    # A model that does not exist yet has its URL in the preview, since the address is there.
    stack = [m["new"]["outputs"] for m in planned if m["type"] == "pulumi:pulumi:Stack"][-1]
    assert stack["gatewayIp"] == ip
    assert stack["models"]["other"]["url"] == f"http://{ip}/models/other"
    assert "Nothing is left" in running.down().stdout
    assert running.cloud() == {}


def test_a_gated_model_can_be_previewed_without_its_token(rehearsal: Rehearsal) -> None:
    rehearsal.edit(
        "local", lambda config: config["llmd-gke:models"][0].update(uri="hf://meta-llama/Llama-3.1-8B-Instruct")
    )
    shown = rehearsal.preview("local").stdout
    assert "hugging-face-token" in shown
    assert f"{resources() + 1} to create" in shown


def test_another_capacity_replaces_the_pool_and_leaves_its_model_alone(running: Rehearsal) -> None:
    before = running.cloud()
    running.edit("local", lambda config: config["llmd-gke:pools"][0].update(capacity="spot"))
    steps = running.steps("up", "--yes", "--skip-preview")
    changed = {name: step for name, step in steps.items() if step != "same"}
    assert set(changed) == {"v6e4-nodes", "cloud-monitoring-dashboard", "cloud-monitoring-quota-almost-used"}
    assert "replace" in changed["v6e4-nodes"]
    after = running.cloud()
    changed_ids = {ident for ident in before if before[ident] != after.get(ident)}
    assert {ident for ident in changed_ids if "gcp:monitoring/" not in str(before[ident]["type"])} == {
        ident for ident in before if ident.endswith("/nodePools/v6e4")
    }


def test_up_prints_the_outputs_and_no_secret(small_brought_up: Path) -> None:
    shown = (small_brought_up / "up.txt").read_text()
    assert re.search(r"^  address +\d+\.\d+\.\d+\.\d+$", shown, re.MULTILINE)
    assert re.search(r"^  password +\[secret\]$", shown, re.MULTILINE)
    assert "geheim" not in shown
    assert str(Rehearsal(small_brought_up).workdir.env_script) in shown


def test_no_secret_lies_in_the_state_in_plain_text(small_brought_up: Path) -> None:
    files = [file for file in Rehearsal(small_brought_up).workdir.state.rglob("*") if file.is_file()]
    assert any(b'"password"' in file.read_bytes() for file in files)
    assert [file for file in files if b"geheim" in file.read_bytes()] == []
