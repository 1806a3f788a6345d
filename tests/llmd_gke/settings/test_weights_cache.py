"""Settings of copies of weights in a bucket."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config, Refuse

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


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ({"uri": "gs://weights/qwen", "weightsCache": "gs://b"}, ["is in a bucket already", "remove weightsCache"]),
        ({"uri": "pvc://claim/qwen", "weightsCache": "gs://b"}, ["not on Hugging Face", "remove weightsCache"]),
        ({"uri": SMALL, "weightsCache": "weights/hf"}, ["names no bucket", "gs://BUCKET/PATH"]),
        ({"uri": SMALL, "weightsCache": "gs://My_Bucket"}, ["is not the name of a bucket"]),
        ({"uri": SMALL, "weightsCache": "gs://weights/../other"}, ["contains `..`", "remove `..` from the path"]),
        ({"uri": f"{SMALL}:a,rw", "weightsCache": "gs://weights"}, ["contains a comma, which separates mount options"]),
    ],
)
def test_a_copy_that_cannot_be_made_is_refused(
    config: Config, refused: Refuse, values: dict[str, str], texts: list[str]
) -> None:
    message = refused(with_model(config, **values))
    assert "llmd-gke:models[0].weightsCache" in message
    for text in texts:
        assert text in message


def test_two_models_with_one_folder_are_refused(config: Config, refused: Refuse) -> None:
    first = with_model(config, uri=SMALL, weightsCache="gs://weights", replicas=1)["llmd-gke:models"][0]
    config["llmd-gke:models"].append({**first, "name": "again", "atRoot": False, "replicas": 1})
    message = refused(config)
    assert "llmd-gke:models[1].weightsCache" in message
    assert "copy weights to the same folder, gs://weights/Qwen/Qwen2.5-3B-Instruct/main" in message
    assert "gs://weights/models/again" in message


def test_two_revisions_share_a_bucket(config: Config, accepted: Accept) -> None:
    first = with_model(config, uri=SMALL, weightsCache="gs://weights", replicas=1)["llmd-gke:models"][0]
    config["llmd-gke:models"].append({**first, "name": "again", "uri": f"{SMALL}:0a1b2c3", "atRoot": False})
    assert len({model.weights_uri for model in accepted(config).settings.models}) == 2


def test_a_copy_is_not_made_through_a_proxy_that_mounts_cannot_use(config: Config, refused: Refuse) -> None:
    config["llmd-gke:network"] = {"egress": {"mode": "proxy", "proxy": "http://10.0.0.9:3128"}}
    message = refused(with_model(config, uri=SMALL, weightsCache="gs://weights"))
    assert "llmd-gke:models[0].weightsCache" in message
    assert "which does not use a proxy" in message


def test_a_copy_needs_no_room_on_the_nodes_disk_unless_it_is_cached_there(
    config: Config, accepted: Accept, refused: Refuse
) -> None:
    config["llmd-gke:tpuPools"][0]["diskGb"] = 50
    llama = "hf://meta-llama/Llama-3.1-8B-Instruct"
    assert accepted(with_model(config, uri=llama, weightsCache="gs://weights"))
    assert "diskGb of at least 56" in refused(with_model(config, parallelDownload=True))


@pytest.mark.parametrize("given", [{"uri": "gs://weights/qwen"}, {"uri": SMALL, "weightsCache": "gs://weights"}])
def test_weights_in_a_bucket_need_a_cluster_that_fetches_them_ahead_or_a_file_cache(
    config: Config, accepted: Accept, refused: Refuse, given: dict[str, str]
) -> None:
    config["llmd-gke:cluster"]["minVersion"] = "1.34.0-gke.1626000"
    message = refused(with_model(config, **given))
    assert "llmd-gke:models[0].parallelDownload = false" in message
    assert "fetches weights ahead from GKE 1.34.0-gke.2011000 on" in message
    assert "fix:     parallelDownload: true, or raise cluster.minVersion" in message
    assert accepted(with_model(config, parallelDownload=True))
    config["llmd-gke:cluster"]["minVersion"] = "1.34.0-gke.2011000"
    assert accepted(with_model(config, parallelDownload=False))
