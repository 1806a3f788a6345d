"""The audit of sources that no Pulumi program made."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmd_common.problems import BadInput, SetUpFailed, Unreachable
from policies.audit.cli import print_audit
from policies.audit.judge import Report, audit
from tests.fakes.script import SHEBANG
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
    file = folder / "bin" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{SHEBANG}import sys\nargv = sys.argv[1:]\n{script}")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", str(file.parent))


def test_a_folder_is_one_program_and_each_violation_says_object_place_incident_and_fix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    (tmp_path / "gate way.yaml").write_text(f"# edge\n---\n{BAD_GATEWAY}")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "models.yaml").write_text(f"{GOOD_ROUTE}---\n{POOL_YAML}")
    (tmp_path / "values.yaml").write_text("replicas: 2\n")
    assert print_audit(["."], "", None, "table") == 1
    shown = capsys.readouterr().out
    for text in ("gateway-class (mandatory)", "gate way.yaml:3", "503", "gke-l7-rilb"):
        assert text in shown
    assert "3 objects" in shown
    assert print_audit([str(tmp_path)], "", None, "sarif") == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        assert result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] in ("gate%20way.yaml", "below/models.yaml")
        assert place["region"]["startLine"] >= 1
    assert {"gateway-class", "health-check-missing"} <= {result["ruleId"] for result in run["results"]}


@pytest.mark.parametrize(
    ("text", "named"),
    [("", "plan.json is no JSON"), ('{"values": {}}', "terraform show -json"), ("\0\u00ff", "plan.json is no JSON")],
)
def test_a_source_without_objects_is_refused_with_what_is_allowed(text: str, named: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="terraform show -json"):
        audit([str(tmp_path)])
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(BadInput, match=named):
        audit([str(tmp_path / "plan.json")])


def test_a_source_of_which_nothing_is_read_does_not_pass(tmp_path: Path) -> None:
    changes = [terraform("null_resource", {})]
    (tmp_path / "plan.json").write_text(json.dumps({"resource_changes": changes}))
    assert print_audit([str(tmp_path / "plan.json")], "", None, "table") == BadInput.status


def test_what_is_no_yaml_is_named_and_does_not_pass_and_no_secret_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {token: geheim1}\n"
    (tmp_path / "all.yaml").write_text(f"{secret}---\napiVersion: v1\n{{{{- if .Values.token }}}}\ntoken: geheim1\n")
    assert print_audit([str(tmp_path)], "", None, "table") in (1, BadInput.status)
    shown = capsys.readouterr().out
    assert "all.yaml:5 cannot be read as YAML" in shown
    assert "geheim1" not in shown


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


@pytest.mark.parametrize(
    ("name", "parent", "backend", "refused"),
    [
        ("ui", "ui", "Service", False),
        ("ui", "ui", "InferencePool", True),
        ("ui", "other", "InferencePool", True),
        ("ui", "${NAME}", "InferencePool", None),
    ],
)
def test_a_gateway_may_be_global_if_its_routes_lead_to_no_pool(
    name: str, parent: str, backend: str, refused: bool | None, tmp_path: Path
) -> None:
    gateway = yaml.safe_load(BAD_GATEWAY)
    gateway["metadata"]["name"] = name
    route = yaml.safe_load(GOOD_ROUTE)
    route["spec"] = {
        "parentRefs": [{"name": parent, "namespace": gateway["metadata"]["namespace"]}],
        "rules": [{"backendRefs": [{"kind": backend, "name": "b"}]}],
    }
    (tmp_path / "a.yaml").write_text(yaml.safe_dump_all([gateway, route, yaml.safe_load(POOL_YAML)]))
    report = audit([str(tmp_path)])
    assert ("gateway-class" in rules(report)) is (refused is True)
    assert any(text.startswith("gateway-class:") for text in report.uncertain) is (refused is None)


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


def test_a_preview_and_a_state_of_pulumi_are_read(tmp_path: Path) -> None:
    urn = "urn:pulumi:dev::p::gcp:container/cluster:Cluster::main"
    inputs = {"location": "europe-west4-a", "gatewayApiConfig": {"channel": "CHANNEL_DISABLED"}}
    state = {"type": "gcp:container/cluster:Cluster", "urn": urn, "inputs": inputs, "custom": True}
    for content in (
        {"steps": [{"op": "create", "urn": urn, "newState": state}]},
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
    assert print_audit(["production"], "", config, "sarif") == Unreachable.status
    with pytest.raises(BadInput, match="production"):
        audit(["no-such-context"])
    program(tmp_path, "kubectl", "print('production') if argv[0] == 'config' else sys.exit('refused')", monkeypatch)
    with pytest.raises(Unreachable, match=r"production\) does not answer: refused"):
        audit(["production"])


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
    places = {one.rule.name: (one.file, one.line) for one in audit([str(folder)]).violations}
    assert places["gateway-class"] == (str(folder / "templates" / "gateway.yaml"), 0)
    assert places["backend-timeout"] == (str(folder / file), 0)


def test_standard_input_is_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(BAD_GATEWAY + "---\n" + POOL_YAML))
    assert "gateway-class" in rules(audit(["-"]))
