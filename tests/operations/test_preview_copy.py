"""A copy of a stack for a preview holds no secret, and everything else as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmd_common.pulumi_signatures import ASSET as ASSET_MARK
from llmd_common.pulumi_signatures import SECRET, SIGNATURE
from llmd_gke.manifests import access
from operations.preview_copy.state import PASSPHRASE, SALT, checkpoint, without_secrets
from tests.operations.conftest import Clone
from tests.operations.support import run

CIPHER = "v1:Zm9v:c2VjcmV0"
HIDDEN = {SIGNATURE: SECRET, "ciphertext": CIPHER}
ASSET = {SIGNATURE: ASSET_MARK, "text": "kept"}
STACK = "urn:pulumi:one::llmd-gke::"


def resource(type_: str, name: str, inputs: object, outputs: object = None, *, custom: bool = True) -> dict[str, Any]:
    return {
        "urn": f"{STACK}{type_}::{name}",
        "custom": custom,
        "type": type_,
        "inputs": inputs,
        "outputs": outputs or inputs,
    }


def cluster(*, by_ip: bool = False) -> dict[str, Any]:
    inputs = {"name": "c", "controlPlaneEndpointsConfig": {"ipEndpointsConfig": {"enabled": by_ip}}}
    outputs = {
        **inputs,
        "endpoint": "192.0.2.7",
        "controlPlaneEndpointsConfig": {"dnsEndpointConfig": {"endpoint": "gke-x.gke.goog"}},
        "masterAuth": {"clusterCaCertificate": "Q0E=", "clientKey": HIDDEN},
        "__pulumi_raw_state_delta": {"obj": HIDDEN},
    }
    return resource("gcp:container/cluster:Cluster", "cluster", inputs, outputs)


PROVIDER = resource("pulumi:providers:kubernetes", "kubernetes", {"kubeconfig": HIDDEN, "clusterIdentifier": "p/z/c"})


def exported(*resources: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": 3,
        "deployment": {
            "manifest": {"magic": "m"},
            "secrets_providers": {"type": "cloud", "state": {"url": "gcpkms://x", "encryptedkey": "k"}},
            "resources": list(resources),
            "pending_operations": [{"type": "creating", "resource": resource("a:b:C", "late", {"x": HIDDEN})}],
        },
    }


def test_no_ciphertext_and_no_key_of_the_stack_is_left() -> None:
    token = resource("kubernetes:core/v1:Secret", "token", {"stringData": HIDDEN, "list": [{"deep": HIDDEN}]})
    copy = without_secrets(exported(cluster(), PROVIDER, token), "dummy")
    text = json.dumps(copy.deployment)
    assert CIPHER not in text
    assert "gcpkms" not in text
    assert "encryptedkey" not in text
    assert text.count(SECRET) == text.count("plaintext") > 3


def test_what_is_no_secret_stays_as_it_is() -> None:
    plain = resource("gcp:compute/network:Network", "net", {"name": "n", "list": [1, 2.5, None, True], "asset": ASSET})
    copy = without_secrets(exported(plain), "dummy")
    assert copy.deployment["resources"] == [plain]
    assert copy.deployment["manifest"] == {"magic": "m"}
    assert copy.incomparable == ()


def test_resources_whose_inputs_hold_secrets_are_named_and_others_are_not() -> None:
    token = resource("kubernetes:core/v1:Secret", "token", {"stringData": HIDDEN})
    box = resource("llmd-gke:platform:Box", "box", {"secret": HIDDEN}, custom=False)
    copy = without_secrets(exported(cluster(), PROVIDER, token, box), "dummy")
    assert copy.incomparable == (token["urn"],)


@pytest.mark.parametrize(
    ("by_ip", "kubeconfig"),
    [(False, access.kubeconfig("c", "gke-x.gke.goog", None)), (True, access.kubeconfig("c", "192.0.2.7", "Q0E="))],
)
def test_the_kubeconfig_is_the_one_that_the_program_writes(by_ip: bool, kubeconfig: str) -> None:
    copy = without_secrets(exported(cluster(by_ip=by_ip), PROVIDER), "dummy")
    resources: Any = copy.deployment["resources"]
    given = resources[1]["inputs"]["kubeconfig"]
    assert given == {SIGNATURE: SECRET, "plaintext": json.dumps(kubeconfig)}
    assert resources[1]["inputs"]["clusterIdentifier"] == "p/z/c"


def test_secret_outputs_of_google_resources_are_left_out_and_their_labels_are_kept() -> None:
    google = resource("pulumi:providers:gcp", "google", {"defaultLabels": '{"managed-by":"pulumi"}'})
    google["id"] = "7"
    address = resource("gcp:compute/address:Address", "ip", {"labels": {"a": "b"}})
    address["provider"] = f"{google['urn']}::7"
    address["outputs"] = {"labels": {"a": "b"}, "pulumiLabels": HIDDEN, "effectiveLabels": HIDDEN}
    resources: Any = without_secrets(exported(google, cluster(), address), "dummy").deployment["resources"]
    assert resources[1]["outputs"]["masterAuth"] == {"clusterCaCertificate": "Q0E="}
    assert resources[1]["outputs"]["__pulumi_raw_state_delta"] == {}
    labels = {"managed-by": "pulumi", "a": "b", "goog-pulumi-provisioned": "true"}
    for key in ("pulumiLabels", "effectiveLabels"):
        assert json.loads(resources[2]["outputs"][key]["plaintext"]) == labels


@pytest.mark.parametrize(("version", "features"), [(3, None), (4, ["hooks"])])
def test_version_and_features_of_the_state_are_kept(version: int, features: list[str] | None) -> None:
    given = {**exported(), "version": version, **({"features": features} if features else {})}
    copy = without_secrets(given, "dummy")
    assert checkpoint("one", "llmd-gke", copy).get("features") == features
    assert checkpoint("one", "llmd-gke", copy)["version"] == version


def test_the_command_writes_a_backend_a_stack_file_and_what_the_engine_needs(clone: Clone, tmp_path: Path) -> None:
    extra = "  llmd-gke:hfToken: {secure: v1:abc}\nsecretsprovider: gcpkms://x\nencryptedkey: k\n"
    clone.add(extra)
    token = resource("kubernetes:core/v1:Secret", "token", {"stringData": HIDDEN})
    state, into = tmp_path / "state.json", tmp_path / "copy"
    state.write_text(json.dumps(exported(token)))
    command = ("preview-copy", "--stack", "one", "--state", str(state), "--into", str(into), "--output", "json")
    done = run(*command, root=clone.root)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["excluded"] == [token["urn"]]
    assert (into / "exclude").read_text() == f"{token['urn']}\n"
    settings = yaml.safe_load((into / "Pulumi.one.yaml").read_text())
    assert settings["config"]["llmd-gke:hfToken"] == "rehearsal-dummy"
    assert settings["config"]["llmd-gke:models"][0]["name"] == "qwen"
    assert (settings["encryptionsalt"], settings.keys() & {"secretsprovider", "encryptedkey"}) == (SALT, set())
    stored = json.loads((into / ".pulumi" / "stacks" / "llmd-gke" / "one.json").read_text())
    assert stored["checkpoint"]["latest"]["secrets_providers"] == {"type": "passphrase", "state": {"salt": SALT}}
    variables = dict(line.split("=", 1) for line in (into / "environment").read_text().splitlines())
    assert variables == {"PULUMI_BACKEND_URL": f"file://{into}", "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE}
    written = "".join(path.read_text() for path in into.rglob("*") if path.is_file())
    assert CIPHER not in written
    assert "v1:abc" not in written


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2, "deployment": {}}', '{"version": 3}', "[" * 100_000])
def test_something_else_than_a_state_is_refused_with_the_command_that_writes_one(
    clone: Clone, tmp_path: Path, text: str
) -> None:
    state, into = tmp_path / "state.json", tmp_path / "copy"
    state.write_text(text)
    done = run("preview-copy", "--stack", "one", "--state", str(state), "--into", str(into), root=clone.root)
    assert done.returncode == 2
    assert "pulumi stack export" in done.stderr
    assert not into.exists()


def test_a_folder_that_is_there_already_is_not_written_over(clone: Clone, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text(json.dumps(exported()))
    done = run("preview-copy", "--stack", "one", "--state", str(state), "--into", str(tmp_path), root=clone.root)
    assert done.returncode == 2
    assert "--into" in done.stderr
