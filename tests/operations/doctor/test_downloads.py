"""What ``doctor`` says about charts, images and weights."""

from __future__ import annotations

import pytest

from llmd_gke.settings.sections import StackSettings
from operations.doctor import downloads
from operations.doctor.context import Context
from operations.doctor.result import Verdict
from tests.operations.doctor.asking import ask
from tests.operations.doctor.google_standin import Google


def test_a_chart_or_image_that_is_gone_is_named(google: Google, context: Context) -> None:
    google.images_gone = {"jetstack/charts/cert-manager", "vllm/vllm-tpu"}
    (charts,) = ask(context, "charts")
    assert charts.verdict is Verdict.FAILED
    assert "cert-manager" in charts.said
    assert "lws" not in charts.said
    (images,) = ask(context, "images")
    assert images.verdict is Verdict.WARNING
    assert "vllm-tpu" in images.said


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
    google: Google, eu4a: StackSettings, token: str | None, status: int, fix: str
) -> None:
    google.weights["meta-llama/Llama-3.1-8B-Instruct"] = status
    (found,) = ask(gated(eu4a, token), "weights")
    assert found.verdict is Verdict.FAILED
    assert fix in found.fix
    assert token is None or token not in f"{found}"
