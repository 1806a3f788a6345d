"""What the settings of models allow: weights, buckets, scheduler."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config, Refuse

HEAD = "Pulumi.eu4a.yaml has 1 problem:\n\n"


def test_a_private_image_needs_the_pull_secret(config: Config, refused: Refuse) -> None:
    config["llmd-gke:models"][0]["privateImage"] = True
    assert refused(config, secrets=[]) == (
        HEAD + "  llmd-gke:pullSecret\n"
        "    privateImage of qwen requires it  [missing-secret]\n"
        "    fix:     pulumi config set --secret llmd-gke:pullSecret (then paste the contents of a .dockerconfigjson)"
    )


def test_a_bucket_that_no_model_uses_is_a_warning(config: Config, accepted: Callable[..., Checked]) -> None:
    config["llmd-gke:storage"] = {"buckets": ["my-bucket"]}
    assert [one.finding.problem for one in accepted(config).warnings if one.finding.rule == "unused-bucket"] == [
        "no model uses this bucket"
    ]


@pytest.mark.parametrize(
    ("uri", "minutes"),
    [
        ("hf://Qwen/Qwen3-4B", 20),
        ("hf://meta-llama/Llama-3.3-70B-Instruct", 53),
        ("hf://some/unknown", 30),
        ("gs://my-bucket/x", 30),
    ],
)
def test_the_startup_budget_follows_the_size_of_the_weights(
    config: Config, accepted: Callable[..., Checked], uri: str, minutes: int
) -> None:
    model = config["llmd-gke:models"][0]
    config["llmd-gke:tpuPools"][0] |= {"machineType": "ct6e-standard-8t", "topology": "2x4", "diskGb": 500}
    model["uri"] = uri
    assert accepted(config).settings.models[0].startup_budget == minutes
    model["startupMinutes"] = 60
    assert accepted(config).settings.models[0].startup_budget == 60


@pytest.mark.parametrize(
    ("path", "internal"), [("/metrics", "/metrics"), ("/v1", "/v1/load_lora_adapter"), ("/invocations", "/invocations")]
)
def test_opening_an_internal_path_is_a_warning(
    config: Config, accepted: Callable[..., Checked], path: str, internal: str
) -> None:
    config["llmd-gke:models"][0]["paths"] = [path]
    (warning,) = [one for one in accepted(config).warnings if one.finding.rule == "route-path-internal"]
    assert warning.key == "llmd-gke:models[0].paths[0]"
    assert internal in warning.finding.problem


def test_further_paths_are_accepted(config: Config, accepted: Callable[..., Checked]) -> None:
    before = accepted(config).warnings
    config["llmd-gke:models"][0]["paths"] = ["/v1/score", "/v1/audio", "/tokenize"]
    assert accepted(config).warnings == before


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ("gs://cache/a", "gs://cache/a/", True),
        ("gs://cache", "gs://cache/a", True),
        ("gs://cache/a", "gs://cache/ab", False),
    ],
)
def test_namespaces_that_write_one_compile_cache_are_a_warning(
    config: Config, accepted: Callable[..., Checked], first: str, second: str, shared: bool
) -> None:
    model = config["llmd-gke:models"][0]
    model.update(replicas=1, compileCache=first)
    config["llmd-gke:models"] = [model, {**model, "name": "other", "namespace": "team", "compileCache": second}]
    config["llmd-gke:tpuPools"][0]["maxNodes"] = 8
    assert ("shared-cache" in [one.finding.rule for one in accepted(config).warnings]) is shared
    config["llmd-gke:models"][1]["namespace"] = "models"
    assert "shared-cache" not in [one.finding.rule for one in accepted(config).warnings], "one namespace, one owner"
