"""What a stack must not take over, and what is too old."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.settings import SettingsError
from llmd_gke.settings.load import load_stack

Config = dict[str, Any]


@pytest.mark.parametrize("namespace", ["kserve", "inference-gateway", "cert-manager", "lws-system", "kube-system"])
def test_models_do_not_take_over_a_namespace_of_the_platform(
    config: Config, refused: Callable[[Config], str], namespace: str
) -> None:
    config["llmd-gke:models"][0]["namespace"] = namespace
    assert (
        f'  llmd-gke:models[0].namespace = "{namespace}"\n'
        f"    namespace {namespace} belongs to the cluster or the platform: closing it for models would cut that off"
        "  [reserved-namespace]\n"
        "    allowed: a namespace for models only\n"
        "    fix:     namespace: models"
    ) in refused(config)


@pytest.mark.parametrize("version", ["1.30", "1.33.4-gke.1", "1.34.0-gke.1625999"])
def test_a_control_plane_below_the_floor_is_refused(
    config: Config, refused: Callable[[Config], str], version: str
) -> None:
    config["llmd-gke:cluster"]["minVersion"] = version
    assert (
        f'  llmd-gke:cluster.minVersion = "{version}"\n'
        f"    minVersion {version} is older than 1.34.0-gke.1626000, from which on GKE installs the InferencePool v1 "
        "CRD itself  [cluster-version]\n"
    ) in refused(config)


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.34.1-gke.1", "1.34.0-gke.1626000"])
def test_the_floor_and_everything_newer_is_accepted(
    config: Config, accepted: Callable[[Config], object], version: str
) -> None:
    config["llmd-gke:cluster"]["minVersion"] = version
    assert accepted(config)


def test_a_key_that_stands_twice_is_named_and_not_lost(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.twice.yaml").write_text("config:\n  gcp:project: first-one\n  gcp:project: second-one\n")
    with pytest.raises(SettingsError, match="gcp:project stands there twice, line 3, column 3"):
        load_stack(tmp_path, "twice")
