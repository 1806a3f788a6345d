"""The audit of sources that no Pulumi program made."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmd_common.problems import BadInput, SetUpFailed
from policies.audit.cli import print_audit
from policies.audit.judge import Report, audit
from tests.policies.objects import GATEWAY_YAML, GOOD_ROUTE, POOL_YAML

BAD_GATEWAY = GATEWAY_YAML.replace("gke-l7-regional-external-managed", "gke-l7-gxlb")
CLUSTER = {"name": "main", "location": "europe-west4-a", "gateway_api_config": [{"channel": "CHANNEL_DISABLED"}]}


def rules(report: Report) -> set[str]:
    return {one.rule.name for one in report.violations}


def terraform(type_: str, after: dict[str, Any], **marks: Any) -> dict[str, Any]:
    return {
        "address": f"{type_}.x",
        "mode": "managed",
        "type": type_,
        "change": {"actions": ["create"], "after": after, **marks},
    }


def program(folder: Path, name: str, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a program on PATH, before all others."""
    file = folder / "bin" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!{sys.executable}\nimport sys\nargv = sys.argv[1:]\n{script}")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", str(file.parent))


def test_a_folder_of_manifests_is_one_program_and_each_violation_says_object_place_incident_and_fix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gateway.yaml").write_text(f"# edge\n---\n{BAD_GATEWAY}")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "models.yaml").write_text(f"{GOOD_ROUTE}---\n{POOL_YAML}---\nkind: [\napiVersion: {{\n")
    (tmp_path / "values.yaml").write_text("replicas: 2\n")
    assert print_audit([str(tmp_path)], "", None, "json") == 1
    found = json.loads(capsys.readouterr().out)
    assert found["objects"] == 3
    (wrong,) = [one for one in found["violations"] if one["rule"] == "gateway-class"]
    assert (wrong["object"], wrong["line"]) == ("Gateway inference-gateway/inference-gateway", 3)
    assert wrong["file"] == str(tmp_path / "gateway.yaml")
    assert "503" in wrong["leadsTo"]
    assert "gke-l7-regional-external-managed" in wrong["fix"]
    assert {"health-check-missing", "backend-timeout"} <= {one["rule"] for one in found["violations"]}
    assert len(found["notRead"]) == 1
    assert print_audit([str(tmp_path)], "", None, "table") == 1
    assert "gateway-class (mandatory)" in capsys.readouterr().out


def test_sarif_has_a_rule_a_file_and_a_line_for_each_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "all.yaml").write_text(f"{BAD_GATEWAY}---\n{POOL_YAML}")
    print_audit([str(tmp_path / "all.yaml")], "", None, "sarif")
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"].endswith("all.yaml")
        assert place["region"]["startLine"] >= 1
    assert "error" in {result["level"] for result in run["results"]}


def test_the_configuration_decides_levels_and_the_stack_what_production_is(tmp_path: Path) -> None:
    file, config = tmp_path / "a.yaml", tmp_path / "config.json"
    file.write_text(BAD_GATEWAY + "---\n" + POOL_YAML)
    config.write_text(json.dumps({"all": "advisory", "gateway-class": "disabled"}))
    report = audit([str(file)], config=config)
    assert not report.refused
    assert "gateway-class" not in rules(report)
    production = {one.rule.name: one.level for one in audit([str(file)], "prod").violations}
    assert production["production-https"] == "mandatory"
    config.write_text(json.dumps({"gateway-clas": "disabled"}))
    with pytest.raises(BadInput, match="gateway-class"):
        audit([str(file)], config=config)


def test_a_gateway_of_a_program_without_pools_may_be_global(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(BAD_GATEWAY)
    assert "gateway-class" not in rules(audit([str(tmp_path)]))


def test_a_placeholder_is_unknown_and_neither_wrong_nor_right(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(BAD_GATEWAY.replace("gke-l7-gxlb", "${CLASS}") + "---\n" + POOL_YAML)
    report = audit([str(tmp_path)])
    assert "gateway-class" not in rules(report)
    assert any(text.startswith("gateway-class:") for text in report.uncertain)


def test_terraforms_plan_has_the_names_and_shapes_of_pulumi_and_no_secret_is_shown(tmp_path: Path) -> None:
    pool = {
        "name": "v6e",
        "cluster": "main",
        "node_config": [{"machine_type": "ct6e-standard-4t", "taint": [{"key": "google.com/tpu", "value": "present"}]}],
    }
    chart = {"chart": "kserve-llmisvc-resources", "version": "v0.18.0", "namespace": "kserve", "values": ["a: geheim1"]}
    manifest = {"manifest": yaml.safe_load(POOL_YAML)}
    changes = [
        terraform("google_container_cluster", CLUSTER, after_unknown={"datapath_provider": True}),
        terraform("google_container_node_pool", pool),
        terraform("google_project_iam_member", {"member": "allUsers", "role": "roles/viewer"}),
        terraform("helm_release", chart, after_sensitive={"values": [True]}),
        terraform("kubernetes_manifest", manifest),
        terraform("google_container_cluster", {}) | {"change": {"actions": ["delete"], "after": None}},
        terraform("null_resource", {}),
    ]
    (tmp_path / "plan.json").write_text(json.dumps({"format_version": "1.2", "resource_changes": changes}))
    report = audit([str(tmp_path / "plan.json")], "prod")
    expected = {"cluster-gateway-api", "tpu-taint", "public-iam-member", "platform-version", "backend-timeout"}
    assert expected <= rules(report)
    assert "cluster-dataplane" not in rules(report)
    assert any("datapathProvider" in text for text in report.uncertain)
    assert "production-protect" not in rules(report)
    assert ["null_resource" in text for text in report.unread] == [True]
    assert "geheim1" not in repr(report)


def test_a_preview_a_plan_and_a_state_of_pulumi_are_read(tmp_path: Path) -> None:
    urn = "urn:pulumi:dev::p::gcp:container/cluster:Cluster::main"
    inputs = {"location": "europe-west4-a", "gatewayApiConfig": {"channel": "CHANNEL_DISABLED"}}
    state = {"type": "gcp:container/cluster:Cluster", "urn": urn, "inputs": inputs, "custom": True}
    goal = {"type": state["type"], "name": "main", "inputDiff": {"adds": inputs}}
    for content in (
        {"steps": [{"op": "create", "urn": urn, "newState": state}]},
        {"resourcePlans": {urn: {"goal": goal, "steps": ["create"]}}},
        {"version": 3, "deployment": {"resources": [state]}},
    ):
        (tmp_path / "preview.json").write_text(json.dumps(content))
        report = audit([str(tmp_path / "preview.json")])
        assert "cluster-gateway-api" in rules(report)
        assert {one.object for one in report.violations} == {"Cluster main"}


def test_a_cluster_is_read_without_its_secrets_and_what_others_control(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gateway: dict[str, Any] = yaml.safe_load(BAD_GATEWAY)
    owned: dict[str, Any] = yaml.safe_load(BAD_GATEWAY)
    owned["metadata"] |= {"name": "owned", "ownerReferences": [{"kind": "Thing", "controller": True}]}
    pool = yaml.safe_load(POOL_YAML)
    script = f"""
if argv[:2] == ["config", "get-contexts"]:
    print("production")
elif "api-resources" in argv:
    print("secrets  v1  true  Secret")
    print("gateways  gtw  gateway.networking.k8s.io/v1  true  Gateway")
    print("inferencepools  inference.networking.k8s.io/v1  true  InferencePool")
else:
    assert argv[:2] == ["--context", "production"] and "secret" not in " ".join(argv).lower()
    assert "gateways.gateway.networking.k8s.io,inferencepools.inference.networking.k8s.io" in argv
    print({json.dumps(json.dumps({"items": [gateway, owned, pool]}))})
    print("Error from server (Forbidden): routes is forbidden", file=sys.stderr)
    sys.exit(1)
"""
    program(tmp_path, "kubectl", script, monkeypatch)
    report = audit(["production"])
    assert {one.object for one in report.violations if one.rule.name == "gateway-class"} == {
        "Gateway inference-gateway/inference-gateway"
    }
    assert any("get and list" in text for text in report.unread)
    assert any("Forbidden" in text for text in report.unread)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"all": "advisory"}))
    assert print_audit(["production"], "", config, "json") == 8
    with pytest.raises(BadInput, match="production"):
        audit(["no-such-context"])


@pytest.mark.parametrize(("file", "tool"), [("Chart.yaml", "helm"), ("kustomization.yaml", "kubectl")])
def test_charts_and_kustomizations_are_rendered_by_their_tools(
    file: str, tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / file).write_text("name: x\n")
    assert "audit it by itself" in audit([str(tmp_path)]).unread[0]
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(SetUpFailed, match=f"{tool} is not on PATH"):
        audit([str(folder)])
    text = f"---\n# Source: x/templates/gateway.yaml\n{BAD_GATEWAY}---\n{POOL_YAML}"
    program(tmp_path, tool, f"assert argv[-1] == {str(folder)!r}\nprint({text!r})", monkeypatch)
    files = {one.rule.name: one.file for one in audit([str(folder)]).violations}
    assert files["gateway-class"] == "x/templates/gateway.yaml"


def test_standard_input_is_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(BAD_GATEWAY + "---\n" + POOL_YAML))
    assert "gateway-class" in rules(audit(["-"]))
