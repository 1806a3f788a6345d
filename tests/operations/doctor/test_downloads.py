from __future__ import annotations

import pytest

from llmd_gke.settings import ImageCacheSettings, StackSettings
from llmd_gke.settings.mirror import mirrored
from operations.doctor import downloads
from operations.doctor.context import Context
from operations.doctor.result import CheckStatus
from tests.operations.doctor.asking import ask
from tests.operations.doctor.elsewhere import Elsewhere


def test_a_chart_or_image_that_is_gone_is_named(elsewhere: Elsewhere, context: Context) -> None:
    elsewhere.images_gone = {"jetstack/charts/cert-manager", "vllm/vllm-tpu"}
    (charts,) = ask(context, "charts")
    assert charts.status is CheckStatus.FAILED
    assert "cert-manager" in charts.message
    assert "lws" not in charts.message
    (images,) = ask(context, "images")
    assert images.status is CheckStatus.WARNING
    assert "vllm-tpu" in images.message


def test_the_chart_of_keda_is_asked_for_where_a_model_needs_it(
    elsewhere: Elsewhere, context: Context, eu4a: StackSettings
) -> None:
    assert [one.status for one in ask(context, "charts")] == [CheckStatus.OK]
    assert not [path for path, _ in elsewhere.heard if "keda" in path]
    (model,) = eu4a.models
    follows_load = model.model_copy(update={"min_replicas": 1, "max_replicas": 3})
    scaled = Context("eu4a", eu4a.model_copy(update={"models": (follows_load,)}))
    assert [one.status for one in ask(scaled, "charts")] == [CheckStatus.OK]
    (asked,) = [path for path, _ in elsewhere.heard if "keda" in path]
    elsewhere.images_gone = {asked.removeprefix("/registry/").removesuffix(".tgz")}
    (charts,) = ask(scaled, "charts")
    assert charts.status is CheckStatus.FAILED
    assert "https://kedacore.github.io/charts/keda-" in charts.message
    assert "HTTP 404" in charts.message


def test_images_of_a_cache_that_does_not_exist_yet_are_looked_up_in_their_own_registries(
    elsewhere: Elsewhere, eu4a: StackSettings
) -> None:
    cached = mirrored(eu4a.model_copy(update={"image_cache": ImageCacheSettings()}))
    context = Context("eu4a", cached)
    assert [one.status for one in ask(context, "images")] == [CheckStatus.OK]
    assert [one.status for one in ask(context, "charts")] == [CheckStatus.OK]
    assert {path.split("/")[2] for path, _ in elsewhere.heard if "/vllm-tpu/" in path} == {"docker.io"}
    assert not [path for path, _ in elsewhere.heard if "pkg.dev" in path]
    elsewhere.images_gone = {"vllm/vllm-tpu"}
    (images,) = ask(context, "images")
    assert "docker.io/vllm/vllm-tpu" in images.message


@pytest.mark.parametrize(
    ("image", "parts"),
    [
        ("docker.io/vllm/vllm-tpu:v0.27.0", ("docker.io", "vllm/vllm-tpu", "v0.27.0")),
        ("registry.example:5000/a/b@sha256:00", ("registry.example:5000", "a/b", "sha256:00")),
        ("ghcr.io/a/b:v1@sha256:00", ("ghcr.io", "a/b", "sha256:00")),
    ],
)
def test_an_image_is_taken_apart_as_registries_do(image: str, parts: tuple[str, str, str]) -> None:
    assert downloads.parts(image) == parts


def gated(eu4a: StackSettings, token: str | None) -> Context:
    (model,) = eu4a.models
    changed = model.model_copy(update={"uri": "hf://meta-llama/Llama-3.1-8B-Instruct"})
    return Context("eu4a", eu4a.model_copy(update={"models": (changed,)}), lambda: token)


@pytest.mark.parametrize(
    ("token", "status", "fix"),
    [
        (None, 401, "pulumi config set --secret llmd-gke:hfToken"),
        ("hf_old", 401, "pulumi config set --secret llmd-gke:hfToken"),
        ("hf_good", 403, "accept its licence"),
        ("hf_good", 404, "check llmd-gke:models' uri"),
    ],
)
def test_gated_weights_that_cannot_be_read_say_what_to_do_and_never_the_token(
    elsewhere: Elsewhere, eu4a: StackSettings, token: str | None, status: int, fix: str
) -> None:
    elsewhere.weights["meta-llama/Llama-3.1-8B-Instruct"] = status
    (result,) = ask(gated(eu4a, token), "weights")
    assert result.status is CheckStatus.FAILED
    assert fix in result.fix
    assert token is None or token not in f"{result}"


def asked_for_weights(elsewhere: Elsewhere) -> list[str | None]:
    return [headers.get("authorization") for path, headers in elsewhere.heard if path.startswith("/hf/")]


def test_only_models_behind_a_gate_see_the_token(elsewhere: Elsewhere, eu4a: StackSettings) -> None:
    (model,) = eu4a.models
    behind = model.model_copy(update={"name": "gated", "uri": "hf://meta-llama/Llama-3.1-8B-Instruct"})
    context = Context("eu4a", eu4a.model_copy(update={"models": (model, behind)}), lambda: "hf_good")
    open_, closed = ask(context, "weights")
    assert (open_.status, closed.status) == (CheckStatus.OK, CheckStatus.OK)
    assert asked_for_weights(elsewhere) == [None, "Bearer hf_good"]


def test_without_a_model_behind_a_gate_the_token_is_not_even_read(elsewhere: Elsewhere, eu4a: StackSettings) -> None:
    def read() -> str:
        raise AssertionError("the token was read")

    (result,) = ask(Context("eu4a", eu4a, read), "weights")
    assert result.status is CheckStatus.OK
    assert asked_for_weights(elsewhere) == [None]


def test_the_token_is_not_sent_without_encryption(
    elsewhere: Elsewhere, eu4a: StackSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://mirror.example")
    (result,) = ask(gated(eu4a, "hf_good"), "weights")
    assert result.status is CheckStatus.FAILED
    assert "https://" in result.fix
    assert "hf_good" not in f"{result}"
    assert asked_for_weights(elsewhere) == []
