"""Stack files: the shipped ones, and those that cannot be read."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.settings import SettingsError, StackSettings, load_stack, parse
from llmd_gke.settings.load import read_config
from llmd_gke.settings.validation import CLOUD_VARIABLE
from tests.llmd_gke.settings.conftest import ROOT, Config

STACKS = sorted(file.name.split(".")[1] for file in ROOT.glob("Pulumi.*.yaml"))

WITH_KEYS = ("eu4a", "gpu", "prod")
"""Stacks whose callers' keys are set before the first deployment."""


def message(root: Path, stack: str) -> str:
    with pytest.raises(SettingsError) as caught:
        load_stack(root, stack)
    return str(caught.value)


@pytest.mark.parametrize("stack", STACKS)
def test_a_shipped_stack_has_no_errors_and_only_the_warnings_it_means(
    stack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CLOUD_VARIABLE, "rehearsal")
    checked = load_stack(ROOT, stack, need_secrets=stack not in WITH_KEYS)
    assert {warning.finding.rule for warning in checked.warnings} <= {"plain-http", "model-untested", "model-revision"}


@pytest.mark.parametrize("stack", WITH_KEYS)
def test_a_stack_with_a_front_door_lacks_nothing_but_its_callers_keys(stack: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_stack(ROOT, stack, need_secrets=True)
    assert f"Pulumi.{stack}.yaml has 1 problem:" in str(caught.value)
    assert "llmd-gke:frontDoor needs a key for each caller" in str(caught.value)


@pytest.mark.parametrize("stack", STACKS)
def test_no_secret_and_no_salt_is_committed_in_a_stack_file(stack: str) -> None:
    text = (ROOT / f"Pulumi.{stack}.yaml").read_text()
    assert "encryptionsalt" not in text
    assert "secure:" not in text
    assert "hf_" not in text


def eu4a() -> StackSettings:
    return load_stack(ROOT, "eu4a").settings


def test_local_is_eu4a_with_a_small_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CLOUD_VARIABLE, "rehearsal")
    one: Config = read_config(ROOT, "eu4a")
    other: Config = read_config(ROOT, "local")
    assert other["gcp:project"] == "rehearsal"
    assert {**one["llmd-gke:gateway"], "open": True} == other["llmd-gke:gateway"], "eu4a has keys, local has none"
    assert ("llmd-gke:frontDoor" in one, "llmd-gke:frontDoor" in other) == (True, False)
    big, small = load_stack(ROOT, "eu4a").settings, load_stack(ROOT, "local").settings
    size = {"uri", "max_model_len", "max_num_seqs", "max_num_batched_tokens"}
    assert big.models[0].model_copy(update={key: getattr(small.models[0], key) for key in size}) == small.models[0]
    pool = small.pools[0]
    # A host that waits costs time and money on Google Cloud only.
    unlike = {key: getattr(pool, key) for key in ("disk_gb", "early_hosts")}
    assert big.pools[0].model_copy(update=unlike) == pool


@pytest.mark.parametrize(
    ("zone", "control_plane", "location", "nodes"),
    [
        ("europe-west4-a", "regional", "europe-west4", "europe-west4-a"),
        ("europe-west4-a", "zonal", "europe-west4-a", "europe-west4-a"),
        ("us-south1-ai1b", "regional", "us-south1", "us-south1-a"),
    ],
)
def test_places_are_derived_from_the_zone(zone: str, control_plane: str, location: str, nodes: str) -> None:
    cluster = eu4a().cluster.model_copy(update={"zone": zone, "control_plane": control_plane})
    assert (cluster.location, cluster.node_zone) == (location, nodes)


def write(folder: Path, content: bytes, stack: str = "mine") -> Path:
    (folder / f"Pulumi.{stack}.yaml").write_bytes(content)
    return folder


def test_a_missing_stack_file_is_named_with_those_that_exist(tmp_path: Path) -> None:
    write(tmp_path, b"config: {}", "eu4a")
    write(tmp_path, b"config: {}", "local")
    assert message(tmp_path, "nowhere") == (
        "Pulumi.nowhere.yaml has 1 problem:\n\n"
        "  Pulumi.nowhere.yaml\n"
        "    Pulumi.nowhere.yaml does not exist  [stack-file]\n"
        "    allowed: eu4a, local\n"
        "    fix:     set a stack, for example STACK=eu4a"
    )


def test_what_stands_in_place_of_a_stack_file_is_named_with_the_way_to_one(tmp_path: Path) -> None:
    assert message(tmp_path, "mine").endswith("fix:     copy a stack file to Pulumi.mine.yaml")
    assert "unset LLMD_GKE_ROOT" in message(tmp_path / "nowhere", "mine")
    (tmp_path / "Pulumi.mine.yml").touch()
    assert message(tmp_path, "mine").endswith("fix:     mv Pulumi.mine.yml Pulumi.mine.yaml")
    (tmp_path / "Pulumi.mine.yaml").symlink_to("nowhere")
    assert message(tmp_path, "mine").endswith("rm Pulumi.mine.yaml")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_an_unreadable_stack_file_is_named(tmp_path: Path) -> None:
    write(tmp_path, b"config: {}")
    file = tmp_path / "Pulumi.mine.yaml"
    if os.geteuid() == 0:  # root reads everything: a folder in its place is unreadable to all
        file.unlink()
        file.mkdir()
    else:
        file.chmod(0)
    result = message(tmp_path, "mine")
    assert "Pulumi.mine.yaml cannot be read" in result
    assert "fix:     make it a file that you may read" in result


def test_a_syntax_error_beside_a_token_does_not_show_the_token(tmp_path: Path) -> None:
    result = message(write(tmp_path, b"config:\n  llmd-gke:hfToken: hf_neverShown: x\n"), "mine")
    assert "line 2" in result
    assert "neverShown" not in result


def test_what_settings_use_decides_which_apis_are_switched_on(config: dict[str, Any]) -> None:
    always = parse(config, "eu4a").settings.apis
    assert {"dns", "containerfilesystem", "serviceusage"} <= set(always), "GKE needs them and does not switch them on"
    config["llmd-gke:cluster"] |= {"secretManager": True, "binaryAuthorization": True}
    config["llmd-gke:gateway"] = {"exposure": "internal", "tls": {"certificateManager": ["c"]}}
    config["llmd-gke:models"][0]["uri"] = "gs://some-bucket/model"
    more = {"secretmanager", "binaryauthorization", "certificatemanager", "storage"}
    assert set(parse(config, "eu4a").settings.apis) - set(always) == more


def test_an_encrypted_token_counts_as_present(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "Pulumi.eu4a.yaml").read_text().replace("Qwen/Qwen3-32B", "google/gemma-3-27b-it")
    write(tmp_path, text.encode())
    with pytest.raises(SettingsError, match="accepted licence"):
        load_stack(tmp_path, "mine", need_secrets=True)
    assert load_stack(tmp_path, "mine")
    keys = "  llmd-gke:callerKeys:\n    trial:\n      secure: v1:abc\n"
    write(tmp_path, f"{text}{keys}  llmd-gke:hfToken:\n    secure: v1:abc\n".encode())
    assert load_stack(tmp_path, "mine", need_secrets=True)
