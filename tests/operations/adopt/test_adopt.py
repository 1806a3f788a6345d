"""A stack is proposed for a cluster that exists, and what cannot be adopted is refused with cause and fix."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmd_gke.settings import parse
from operations.adopt.command import command
from operations.doctor import existing
from operations.doctor.platform import Live
from operations.doctor.result import CheckStatus
from operations.exits import Failed, Unreachable
from operations.options import Output
from tests.operations.adopt.support import CONTEXT, Cluster, kubectl

ROOT = Path(__file__).parents[3]
SPACE = "llm-d-inference-scheduling"
FIRST, SECOND = f"{SPACE}/qwen2-3b-pattern1", f"{SPACE}/qwen2-3b-pattern3"
MANAGED = {"managedFields": [{"manager": "pulumi-kubernetes-1f2e", "operation": "Apply"}]}
CONTROLLERS = {
    "certManager": "cert-manager/cert-manager",
    "leaderWorkerSet": "lws-system/lws-controller-manager",
    "kserve": "opendatahub/llmisvc-controller-manager",
}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    for name in ("__main__.py", "components", "charts", "Pulumi.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("LLMD_GKE_ROOT", "LLMD_GKE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("LLMD_GKE_CLOUD", "rehearsal")
    return kubectl(tmp_path, monkeypatch)


def adopt(capsys: pytest.CaptureFixture[str], *, write: bool = False) -> tuple[dict[str, Any], dict[str, str]]:
    """The answer, and of its findings those that must be resolved."""
    with suppress(Failed):
        command("field", CONTEXT, Output.JSON, write=write)
    answer = json.loads(capsys.readouterr().out)
    return answer, {one["what"]: one["said"] for one in answer["findings"] if one["verdict"] == "failed"}


@pytest.fixture
def complete(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> Path:
    """The proposed stack file, whose gaps somebody has filled."""
    adopt(capsys, write=True)
    file = cluster.file.parent / "Pulumi.field.yaml"
    content = yaml.safe_load(file.read_text())
    content["config"]["llmd-gke:network"] = {
        "existing": {"network": "corp", "subnet": "gke"},
        "proxies": "10.9.0.0/23",
    }
    file.write_text(yaml.safe_dump(content))
    return file


def test_the_proposal_uses_what_is_there_and_names_its_gaps(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    answer, failed = adopt(capsys)
    config = yaml.safe_load(answer["stackFile"])["config"]
    place = {"name": "shared", "location": "europe-west4"}
    assert config["llmd-gke:cluster"]["existing"] == {**place, "controllers": CONTROLLERS, "namespaces": [SPACE]}
    assert config["llmd-gke:gateway"]["existing"]["address"] == "35.214.195.39"
    models = [(one["name"], one["pool"], one["maxModelLen"], one.get("replicas")) for one in config["llmd-gke:models"]]
    assert models == [("qwen2-3b-pattern1", "tpu", 2048, None), ("qwen2-3b-pattern3", "tpu", 2048, 3)]
    assert config["llmd-gke:models"][0]["extraArgs"] == ["--no-enable-log-requests"]
    assert config["llmd-gke:pools"] == [
        {"name": "tpu", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 5, "existing": True},
        {
            "name": "gpu",
            "machineType": "n1-standard-32",
            "gpus": 2,
            "maxNodes": 2,
            "existing": True,
            "zone": "europe-west4-b",
        },
    ]
    assert failed.keys() == {"network"}
    assert not list(cluster.file.parent.glob("*field*"))


def test_a_stack_file_is_never_changed_and_brings_the_import_list(
    complete: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = complete.read_text()
    answer, failed = adopt(capsys, write=True)
    assert (complete.read_text(), failed) == (before, {})
    resources = json.loads((complete.parent / "import.field.json").read_text())["resources"]
    assert {(one["name"], one["id"], one["parent"]) for one in resources if "id" in one} == {
        ("qwen2-3b-pattern1-service", FIRST, "Model-qwen2-3b-pattern1"),
        ("qwen2-3b-pattern3-service", SECOND, "Model-qwen2-3b-pattern3"),
    }
    said = {one["what"]: one for one in answer["findings"]}
    assert "spec.template" in said[f"LLMInferenceService {SECOND}"]["said"]
    for kind, name in (("HealthCheckPolicy", "qwen2-pattern3-health-check"), ("HTTPRoute", "by-hand")):
        assert f"kubectl -n {SPACE} delete {kind.lower()} {name}" in said[f"{kind} {SPACE}/{name}"]["fix"]
    assert f"HTTPRoute {SPACE}/page" not in said


def test_two_owners_an_old_controller_and_a_missing_permission_are_refused(
    complete: Path, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    marker = {"annotations": {"argocd.argoproj.io/tracking-id": "llm:serving.kserve.io/x"}}
    cluster.of("LLMInferenceService", "qwen2-3b-pattern1")["metadata"] |= marker
    cluster.of("LLMInferenceService", "qwen2-3b-pattern3")["metadata"] |= MANAGED
    for name, image in (
        ("lws-controller-manager", "registry.k8s.io/lws/lws:v0.4.0"),
        ("llmisvc-controller-manager", "quay.io/opendatahub/kserve-controller:v0.15"),
    ):
        cluster.of("Deployment", name)["spec"]["template"]["spec"]["containers"][0]["image"] = image
    cluster.denied.append("HealthCheckPolicy")
    cluster.save()
    answer, failed = adopt(capsys)
    assert json.loads(answer["import"])["resources"] == []
    assert "Argo CD application llm would undo" in failed[f"LLMInferenceService {FIRST}"]
    assert "a Pulumi stack" in failed[f"LLMInferenceService {SECOND}"]
    assert "0.8.0 is the oldest that works" in failed["LeaderWorkerSet"]
    assert "v0.15 in opendatahub/llmisvc-controller-manager, of Helm release kserve" in failed["KServe"]
    assert 'User "ann" cannot list' in failed["permissions"]


def test_a_context_that_does_not_answer_is_said_before_anything_is_written(cluster: Cluster) -> None:
    with pytest.raises(Unreachable, match='context "other" does not exist\nFix: '):
        command("field", "other", Output.JSON, write=True)
    assert not list(cluster.file.parent.glob("*field*"))


def test_doctor_says_what_is_missing_or_would_be_a_second_one(complete: Path, cluster: Cluster) -> None:
    config = yaml.safe_load(complete.read_text())["config"]
    config["llmd-gke:cluster"]["existing"] |= {"controllers": {"kserve": "kserve/llmisvc"}, "namespaces": []}
    config["llmd-gke:gateway"]["existing"]["name"] = "other"
    cluster.objects.remove(cluster.of("Deployment", "cert-manager"))
    cluster.save()
    results = list(existing.inside(parse(config, "field").settings, Live(())))
    key = "llmd-gke:cluster.existing"
    assert [(one.check, one.fix) for one in results if one.status is CheckStatus.FAILED] == [
        ("LeaderWorkerSet", f"{key}.controllers.leaderWorkerSet: {CONTROLLERS['leaderWorkerSet']}"),
        ("KServe", f"{key}.controllers.kserve: {CONTROLLERS['kserve']}"),
        ("existing cluster", "correct gateway.existing, or create it"),
        ("existing cluster", f"{key}.namespaces: [{SPACE}]"),
    ]
    assert any(one.check == "cert-manager" and one.message.startswith("missing") for one in results)
    cluster.of("Namespace", "lws-system")["metadata"] |= MANAGED
    cluster.save()
    results = list(existing.inside(parse(config, "field").settings, Live(())))
    assert not [one for one in results if one.check == "LeaderWorkerSet" and one.status is CheckStatus.FAILED]
