"""Settings of copies of weights in a bucket."""

from __future__ import annotations

from collections.abc import Callable

from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config

Accept = Callable[..., Checked]
SMALL = "hf://Qwen/Qwen2.5-3B-Instruct"


def with_model(config: Config, **values: object) -> Config:
    config["llmd-gke:models"][0] |= values
    return config


def test_each_revision_has_a_folder_of_its_own(config: Config, accepted: Accept) -> None:
    newest = accepted(with_model(config, uri=SMALL, weightsCache="gs://weights/hf/")).settings.models[0]
    assert newest.weights_uri == "gs://weights/hf/Qwen/Qwen2.5-3B-Instruct/main"
    fixed = accepted(with_model(config, uri=f"{SMALL}:0a1b2c3", weightsCache="gs://weights/hf")).settings.models[0]
    assert fixed.weights_uri == "gs://weights/hf/Qwen/Qwen2.5-3B-Instruct/0a1b2c3"
