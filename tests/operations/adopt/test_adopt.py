"""A stack is proposed for a cluster that exists, and what cannot be adopted is refused with cause and fix."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmd_gke.settings import parse
from operations.adopt import found
from operations.adopt.command import command
from operations.adopt.live import Live
from operations.doctor import existing
from operations.doctor.result import CheckStatus
from operations.exits import BadInput, Failed, Unreachable
from operations.options import Output
from tests.operations.adopt.support import CONTEXT, Cluster, kubectl

ROOT = Path(__file__).parents[3]
TOO_OLD = {
    "lws-controller-manager": "registry.k8s.io/lws/lws:v0.4.0",
    "llmisvc-controller-manager": "quay.io/opendatahub/kserve-controller:v0.15",
}
NETWORK = {"network": "corp", "subnet": "gke", "podsRange": "pods", "servicesRange": "services"}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    for name in ("__main__.py", "components", "charts", "Pulumi.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.setenv("LLMD_GKE_ROOT", str(tmp_path))
    monkeypatch.setenv("LLMD_GKE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LLMD_GKE_CLOUD", "rehearsal")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    return kubectl(tmp_path, monkeypatch)


def adopt(capsys: pytest.CaptureFixture[str], *, write: bool = False) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """The answer, and its findings that must be resolved."""
    with suppress(Failed):
        command("field", CONTEXT, Output.JSON, write=write)
    answer = json.loads(capsys.readouterr().out)
    return answer, [one for one in answer["findings"] if one["verdict"] == "failed"]


@pytest.fixture
def complete(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> Path:
    """The proposed stack file, whose gaps somebody has filled."""
    adopt(capsys, write=True)
    file = cluster.file.parent / "Pulumi.field.yaml"
    content = yaml.safe_load(file.read_text())
    content["config"]["llmd-gke:network"] = {"existing": NETWORK, "proxies": "10.9.0.0/23"}
    file.write_text(yaml.safe_dump(content))
    return file


def test_the_proposal_uses_what_is_there_and_names_its_gaps(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    answer, failed = adopt(capsys)
    config = yaml.safe_load(answer["stackFile"])["config"]
    assert config["llmd-gke:cluster"]["existing"] == {
        "name": "shared",
        "location": "europe-west4",
        "controllers": {
            "certManager": "cert-manager/cert-manager",
            "leaderWorkerSet": "lws-system/lws-controller-manager",
            "kserve": "opendatahub/llmisvc-controller-manager",
        },
        "namespaces": ["llm-d-inference-scheduling"],
    }
    assert config["llmd-gke:gateway"]["existing"]["address"] == "35.214.195.39"
    assert [(one["name"], one["maxModelLen"], one.get("replicas", 1)) for one in config["llmd-gke:models"]] == [
        ("qwen2-3b-pattern1", 2048, 1),
        ("qwen2-3b-pattern3", 2048, 3),
    ]
    assert {one["what"].partition(".")[0] for one in failed} == {"network", "llmd-gke:network"}
    assert not list(cluster.file.parent.glob("*field*"))


def test_a_stack_file_is_never_changed_and_brings_the_import_list(
    complete: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = complete.read_text()
    answer, failed = adopt(capsys, write=True)
    assert (complete.read_text(), failed) == (before, [])
    assert {(one["name"], one["id"], one["parent"]) for one in answer["import"]["resources"]} == {
        ("qwen2-3b-pattern1-service", "llm-d-inference-scheduling/qwen2-3b-pattern1", "qwen2-3b-pattern1"),
        ("qwen2-3b-pattern3-service", "llm-d-inference-scheduling/qwen2-3b-pattern3", "qwen2-3b-pattern3"),
    }
    said = {one["what"]: one for one in answer["findings"]}
    assert "spec.template" in said["LLMInferenceService llm-d-inference-scheduling/qwen2-3b-pattern3"]["said"]
    rival = said["HealthCheckPolicy llm-d-inference-scheduling/qwen2-pattern3-health-check"]
    assert "kubectl -n llm-d-inference-scheduling delete healthcheckpolicy" in rival["fix"]
    with pytest.raises(BadInput, match=r"import\.field\.json is there already"):
        adopt(capsys, write=True)


@pytest.mark.parametrize(
    ("markers", "owner"),
    [
        ({"annotations": {"meta.helm.sh/release-name": "qwen"}}, "Helm release qwen"),
        ({"annotations": {"argocd.argoproj.io/tracking-id": "llm:serving.kserve.io/x"}}, "Argo CD application llm"),
        ({"managedFields": [{"manager": "pulumi-kubernetes-1f2e", "operation": "Apply"}]}, "another Pulumi stack"),
    ],
)
def test_an_object_of_two_owners_is_not_imported(
    complete: Path, cluster: Cluster, capsys: pytest.CaptureFixture[str], markers: dict[str, Any], owner: str
) -> None:
    cluster.of("LLMInferenceService", "qwen2-3b-pattern1")["metadata"] |= markers
    cluster.save()
    answer, failed = adopt(capsys)
    assert [(one["what"], owner in one["said"]) for one in failed] == [
        ("LLMInferenceService llm-d-inference-scheduling/qwen2-3b-pattern1", True)
    ]
    assert [one["name"] for one in answer["import"]["resources"]] == ["qwen2-3b-pattern3-service"]


def test_a_controller_that_is_too_old_and_a_missing_permission_are_refused(
    complete: Path, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    for deployment, image in TOO_OLD.items():
        cluster.image(deployment, image)
    cluster.denied.append("healthcheckpolicies")
    cluster.save()
    _, failed = adopt(capsys)
    problems = {one["what"]: one["said"] for one in failed}
    assert "0.8.0 is the oldest that works" in problems["LeaderWorkerSet"]
    assert "v0.15 in opendatahub/llmisvc-controller-manager, of Helm release" in problems["KServe"]
    assert 'User "ann" cannot list' in problems["permissions"]


def test_a_context_that_does_not_answer_is_said_before_anything_is_written(cluster: Cluster) -> None:
    with pytest.raises(Unreachable, match='context "other" does not exist\nFix: '):
        command("field", "other", Output.JSON, write=True)
    assert not list(cluster.file.parent.glob("*field*"))


def test_doctor_says_what_is_missing_second_or_elsewhere(complete: Path, cluster: Cluster) -> None:
    config = yaml.safe_load(complete.read_text())["config"]
    use = config["llmd-gke:cluster"]["existing"]
    use["controllers"] = {"kserve": "kserve/llmisvc-controller-manager"}
    config["llmd-gke:gateway"]["existing"]["name"] = "other"
    live = Live(())
    settings = parse(config, "field").settings
    results = [one for one in existing.inside(settings, live) if one.status is CheckStatus.FAILED]
    assert [(one.check, one.fix) for one in results] == [
        ("cert-manager", "llmd-gke:cluster.existing.controllers.certManager: cert-manager/cert-manager"),
        ("LeaderWorkerSet", "llmd-gke:cluster.existing.controllers.leaderWorkerSet: lws-system/lws-controller-manager"),
        ("KServe", "llmd-gke:cluster.existing.controllers.kserve: opendatahub/llmisvc-controller-manager"),
        ("existing cluster", "correct the settings, or create it"),
    ]
    cluster.objects = [one for one in cluster.objects if one["metadata"].get("namespace") != "cert-manager"]
    cluster.save()
    said = {one.check: one.message for one in found.parts(Live(()), {}, door=True, scaled=True)}
    assert said["cert-manager"].startswith("missing: the stack installs v")
    assert said["Envoy Gateway"].startswith("missing")
