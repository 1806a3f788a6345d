"""What settings say about the server's container: variables, privileges, and the picker beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config, Refuse

Accept = Callable[..., Checked]


def with_model(config: Config, **changes: Any) -> Config:
    config["llmd-gke:models"][0] |= changes
    return config


@pytest.mark.parametrize(
    "variable",
    [
        {"name": "LIBTPU_INIT_ARGS", "value": "--xla_tpu_scoped_vmem_limit_kib=65536"},
        {"name": "VLLM_MAX_N_SEQUENCES", "value": "4"},
        {"name": "VLLM_HTTP_TIMEOUT_KEEP_ALIVE", "value": "601"},
        {"name": "OTEL_TOKEN", "secret": "observability", "key": "token"},
    ],
)
def test_variables_of_the_server_are_settings(config: Config, accepted: Accept, variable: dict[str, str]) -> None:
    (model,) = accepted(with_model(config, env=[variable])).settings.models
    assert model.env[0].name == variable["name"]


def test_parallel_download_is_for_weights_in_a_bucket(config: Config, accepted: Accept) -> None:
    (model,) = accepted(with_model(config, uri="gs://weights/qwen", parallelDownload=True)).settings.models
    assert model.parallel_download


@pytest.mark.parametrize("uri", ["hf://Qwen/Qwen3-4B", "pvc://claim/qwen", "oci://example.com/qwen:v1", "s3://b/qwen"])
def test_parallel_download_of_other_weights_is_refused(config: Config, refused: Refuse, uri: str) -> None:
    message = refused(with_model(config, uri=uri, parallelDownload=True))
    assert "llmd-gke:models[0].parallelDownload" in message
    assert f"{uri} is not mounted by Cloud Storage FUSE" in message
    assert "remove parallelDownload" in message


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ({"name": "VLLM_ALLOW_RUNTIME_LORA_UPDATING", "value": "True"}, "any client could then load weights"),
        ({"name": "VLLM_SERVER_DEV_MODE", "value": "1"}, "pause and reset"),
        ({"name": "VLLM_XLA_CACHE_PATH", "value": "/x"}, "set compileCache"),
        ({"name": "HF_TOKEN", "value": "x"}, "llmd-gke:hfToken"),
        ({"name": "NCCL_DEBUG", "value": "1"}, "is for GPUs"),
        ({"name": "TPU_WORKER_ID", "value": "0"}, "must not be set: GKE or LeaderWorkerSet sets it"),
        ({"name": "JAX_PLATFORMS", "value": "tpu"}, "breaks model loading"),
        ({"name": "OTEL_TOKEN", "value": "written-out"}, "set secret and key instead of value"),
        (
            {"name": "VLLM_HTTP_TIMEOUT_KEEP_ALIVE", "value": "600"},
            "_KEEP_ALIVE 600: the load balancer keeps",
        ),
        ({"name": "VLLM_HTTP_TIMEOUT_KEEP_ALIVE", "value": "15m"}, "a whole number of more than 600"),
        ({"name": "VLLM_HTTP_TIMEOUT_KEEP_ALIVE", "secret": "s", "key": "k"}, "remove VLLM_HTTP_TIMEOUT_KEEP_ALIVE"),
        ({"name": "A", "value": "1", "secret": "s", "key": "k"}, "has neither a value nor a complete Secret reference"),
        ({"name": "A"}, "has neither a value nor a complete Secret reference"),
        ({"name": "A", "secret": "s"}, "has neither a value nor a complete Secret reference"),
    ],
)
def test_a_variable_that_breaks_or_opens_the_server_is_refused_with_the_reason(
    config: Config, refused: Refuse, variable: dict[str, str], text: str
) -> None:
    message = refused(with_model(config, env=[variable]))
    assert "[server-environment]" in message
    assert text in message
    assert "written-out" not in message


def test_running_requests_finish_within_the_hour_that_the_load_balancer_drains_at_most(
    config: Config, accepted: Accept, refused: Refuse
) -> None:
    assert accepted(with_model(config, drainSeconds=3585)).settings.models[0].drain_seconds == 3585
    message = refused(with_model(config, drainSeconds=3586))
    assert "llmd-gke:models[0].drainSeconds" in message
    assert "at most 3585" in message


def test_a_variable_is_given_once(config: Config, refused: Refuse) -> None:
    assert "A is set more than once" in refused(with_model(config, env=[{"name": "A", "value": "1"}] * 2))


def test_privileges_of_one_model_are_a_setting_and_a_warning(config: Config, accepted: Accept) -> None:
    checked = accepted(with_model(config, privileged=True, capabilities=["SYS_RESOURCE"]))
    assert checked.settings.models[0].privileged
    assert "model-privileges" in [one.finding.rule for one in checked.warnings]


def test_a_capability_that_does_not_exist_is_refused_with_the_right_spelling(config: Config, refused: Refuse) -> None:
    assert "did you mean SYS_RESOURCE?" in refused(with_model(config, capabilities=["CAP_SYS_RESOURCE"]))


@pytest.mark.parametrize(("tag", "fine"), [("v0.9.0", True), ("v0.9.4", True), ("v0.10.0", False), ("v1.0.0", False)])
def test_the_picker_is_no_newer_than_the_one_that_kserves_preset_starts(
    config: Config, accepted: Accept, refused: Refuse, tag: str, fine: bool
) -> None:
    changed = with_model(config, scheduler={"image": f"ghcr.io/llm-d/llm-d-router-endpoint-picker:{tag}"})
    if fine:
        assert accepted(changed).settings.models[0].scheduler.image.endswith(tag)
    else:
        assert "is newer than v0.9.0, which KServe's preset starts" in refused(changed)


def test_a_size_that_only_the_name_tells_warns_and_refuses_nothing(config: Config, accepted: Accept) -> None:
    checked = accepted(with_model(config, uri="hf://someone/Big-200B"))
    problems = [one.finding.problem for one in checked.warnings if one.finding.rule == "model-size"]
    assert problems
    assert "about 400 GB (by its name)" in problems[0]


def test_a_size_that_nothing_tells_is_said_to_be_unchecked(config: Config, accepted: Accept) -> None:
    checked = accepted(with_model(config, uri="hf://someone/secretive"))
    assert "whether it fits in HBM and on disk was not checked" in str(
        [one.finding.problem for one in checked.warnings]
    )
