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
OF_THE_KUBECONFIG = "gke-gcloud-auth-plugin"


@cache
def resources() -> int:
    """The number of resources of stack ``local``, by its recorded graph; with the stack itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CLOUD_VARIABLE, "rehearsal")
        return len(load(CLONE, "local").nodes)


def test_a_gated_model_can_be_previewed_without_its_token(rehearsal: Rehearsal) -> None:
    rehearsal.edit(
        "local", lambda config: config["llmd-gke:models"][0].update(uri="hf://meta-llama/Llama-3.1-8B-Instruct")
    )
    shown = rehearsal.preview("local").stdout
    assert "hugging-face-token" in shown
    assert f"{resources() + 1} to create" in shown


def test_up_in_an_empty_project_prints_the_outputs_and_no_secret_and_the_state_hides_them(brought_up: Path) -> None:
    shown = (brought_up / "up.txt").read_text()
    assert "policies" in shown
    assert re.search(r"^  gatewayIp +\d+\.\d+\.\d+\.\d+$", shown, re.MULTILINE)
    assert re.search(r"^  kubeconfig +\[secret\]$", shown, re.MULTILINE)
    assert OF_THE_KUBECONFIG not in shown
    workdir = Rehearsal(brought_up).workdir
    assert str(workdir.env_script) in shown
    files = [file for file in workdir.state.rglob("*") if file.is_file()]
    assert any(b'"kubeconfig"' in file.read_bytes() for file in files)
    assert [file for file in files if OF_THE_KUBECONFIG.encode() in file.read_bytes()] == []


def test_another_capacity_replaces_the_pool_alone_and_the_stack_goes_without_a_trace(running: Rehearsal) -> None:
    before = running.cloud()
    kinds = {entry.get("type") for entry in before.values()}
    assert kinds >= {"gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool", "helm.sh/v3/Release", MODEL}
    outputs = json.loads(running.pulumi("stack", "output", "--json", "--stack", "local").stdout)
    endpoint, ip = outputs["models"]["qwen"], outputs["gatewayIp"]
    assert endpoint == {"url": f"http://{ip}/models/qwen", "servedModelName": "qwen", "namespace": "models"}
    assert outputs["curl"].startswith(f"curl {endpoint['url']}/v1/")
    assert outputs["chips"] == 12
    assert OF_THE_KUBECONFIG in running.pulumi("stack", "output", "kubeconfig", "--show-secrets", "-s", "local").stdout

    running.edit("local", lambda config: config["llmd-gke:pools"][0].update(capacity="spot"))
    steps = running.steps("up", "--yes", "--skip-preview")
    assert len(steps) >= resources()
    changed = {name: step for name, step in steps.items() if step != "same"}
    assert set(changed) == {"v6e4-nodes", "cloud-monitoring-dashboard", "cloud-monitoring-quota-almost-used"}
    assert "replace" in changed["v6e4-nodes"]
    after = running.cloud()
    changed_ids = {ident for ident in before if before[ident] != after.get(ident)}
    assert {ident for ident in changed_ids if "gcp:monitoring/" not in str(before[ident]["type"])} == {
        ident for ident in before if ident.endswith("/nodePools/v6e4")
    }

    assert "Nothing is left" in running.down().stdout
    assert running.cloud() == {}
