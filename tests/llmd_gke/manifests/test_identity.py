from __future__ import annotations

from llmd_gke.manifests import identity
from llmd_gke.rules.names import MODEL_NAME_LIMIT
from tests.llmd_gke.manifests.conftest import MakeModel


def test_the_account_names_cluster_and_model_and_fits_a_label() -> None:
    assert identity.account("qwen", "llmd-prod") == "llmd-prod-qwen"
    assert len(identity.account("m" * MODEL_NAME_LIMIT, "c" * 24)) <= 63


def test_weights_and_cache_in_one_bucket_are_read_and_only_the_cache_is_written(make_model: MakeModel) -> None:
    model = make_model(uri="gs://one/weights", compile_cache="gs://one/cache")
    read, write = identity.grants(model)
    assert (read.role, read.condition) == (identity.READ, None)
    assert write.role == identity.WRITE
    assert write.condition == 'resource.name.startsWith("projects/_/buckets/one/objects/cache/")'


def test_a_path_ends_with_a_slash_so_that_no_neighbour_is_meant(make_model: MakeModel) -> None:
    (_, write) = identity.grants(make_model(compile_cache="gs://cache/qwen//"))
    assert write.condition is not None
    assert write.condition.endswith('/objects/qwen/")')
