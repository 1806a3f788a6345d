"""What a stack must not take over, and what is too old."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.settings import SettingsError
from llmd_gke.settings.load import load_stack, read_config
from tests.abbreviations import VARIANTS

Config = dict[str, Any]


@pytest.mark.parametrize("namespace", ["kserve", "inference-gateway", "cert-manager", "lws-system", "kube-system"])
def test_models_do_not_take_over_a_namespace_of_the_platform(
    config: Config, refused: Callable[[Config], str], namespace: str
) -> None:
    config["llmd-gke:models"][0]["namespace"] = namespace
    assert (
        f'  llmd-gke:models[0].namespace = "{namespace}"\n'
        f"    namespace {namespace} belongs to the cluster or the platform: the default-deny policy for models "
        "would cut off their traffic"
        "  [reserved-namespace]\n"
        "    allowed: a namespace used only for models\n"
        "    fix:     namespace: models"
    ) in refused(config)


@pytest.mark.parametrize("version", ["1.30", "1.33.4-gke.1", "1.34.0-gke.1625999"])
def test_a_control_plane_below_the_floor_is_refused(
    config: Config, refused: Callable[[Config], str], version: str
) -> None:
    config["llmd-gke:cluster"]["minVersion"] = version
    assert (
        f'  llmd-gke:cluster.minVersion = "{version}"\n'
        f"    minVersion {version} is older than 1.34.0-gke.1626000, the first version in which GKE installs the "
        "InferencePool v1 CRD  [cluster-version]\n"
    ) in refused(config)


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.34.1-gke.1", "1.34.0-gke.1626000"])
def test_the_floor_and_everything_newer_is_accepted(
    config: Config, accepted: Callable[[Config], object], version: str
) -> None:
    config["llmd-gke:cluster"]["minVersion"] = version
    assert accepted(config)


def test_a_key_that_stands_twice_is_named_and_not_lost(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.twice.yaml").write_text("config:\n  gcp:project: first-one\n  gcp:project: second-one\n")
    with pytest.raises(SettingsError, match="gcp:project is a duplicate key, line 3, column 3"):
        load_stack(tmp_path, "twice")


@pytest.mark.parametrize(
    ("section", "key", "value", "rule"),
    [
        ("cluster", "controlPlane", {"zone": "us-south1-ai1b", "controlPlane": "zonal"}, "ai-zone"),
        ("network", "pods", {"pods": "10.4.0.0/24"}, "pod-range"),
    ],
)
def test_what_google_has_no_room_or_place_for_is_refused(
    config: Config, refused: Callable[[Config], str], section: str, key: str, value: dict[str, str], rule: str
) -> None:
    config.setdefault(f"llmd-gke:{section}", {}).update(value)
    assert f"llmd-gke:{section}.{key} = " in refused(config)
    assert f"[{rule}]" in refused(config)


@pytest.mark.parametrize(
    "arguments",
    [["-tp", "8"], ["--host=127.0.0.1"], ["-pp", "2"], ["-q", "gptq"], *(argv for _, argv in VARIANTS)],
)
def test_short_names_of_arguments_pass_no_rule_by(
    config: Config, refused: Callable[[Config], str], arguments: list[str]
) -> None:
    config["llmd-gke:models"][0]["extraArgs"] = arguments
    message = refused(config)
    assert "[tpu-server-argument]" in message
    assert "abcdef" not in message


def test_a_token_in_plain_text_is_refused_and_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.open.yaml").write_text("config:\n  llmd-gke:hfToken: hf_very_private\n")
    with pytest.raises(SettingsError) as caught:
        load_stack(tmp_path, "open")
    assert "llmd-gke:hfToken\n    the stack file contains a secret in plain text" in str(caught.value)
    assert "hf_very_private" not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("off", "off"),
        ("yes", "yes"),
        ("02:00", "02:00"),
        ('"2026-11-21"', "2026-11-21"),
        ("1e3", 1000.0),
        ("true", True),
        ("7", 7),
        ("~", None),
    ],
)
def test_a_stack_file_means_here_what_it_means_to_the_engine(tmp_path: Path, written: str, read: object) -> None:
    (tmp_path / "Pulumi.x.yaml").write_text(f"config:\n  gcp:project: {written}\n")
    assert read_config(tmp_path, "x")["gcp:project"] == read
