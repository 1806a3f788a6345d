"""Rules about the buckets of models."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.rules import buckets
from llmd_gke.rules.finding import Finding
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.validation.finding_at import SettingFinding, locate


def storage(settings: StackSettings) -> Iterator[SettingFinding]:
    """Checks that buckets to be created have valid names, and that a model uses each."""
    used = {bucket for model in settings.models for bucket in (*model.read_buckets, model.cache_bucket)}
    for index, bucket in enumerate(settings.storage.buckets):
        key = f"llmd-gke:storage.buckets[{index}]"
        yield from locate(key, bucket, buckets.bucket(bucket))
        if bucket not in used:
            finding = Finding(
                "unused-bucket",
                "no model uses this bucket",
                fix=f"use it in uri, adapters, weightsCache or compileCache of a model (gs://{bucket}), or remove it",
                severity="warning",
            )
            yield SettingFinding(key, bucket, finding)
    caches: dict[str, str] = {}
    copies: dict[str, str] = {}
    for key, model in zip(settings.model_keys, settings.models, strict=True):
        owner = f"{model.namespace}/{model.name}"
        if model.weights_cache is not None and model in settings.copied:
            findings = buckets.shared_copy(owner, model.weights_uri, copies)
            yield from locate(f"{key}.weightsCache", model.weights_cache, findings)
            copies[owner] = model.weights_uri
        if model.compile_cache is not None:
            findings = buckets.shared_cache(owner, model.compile_cache, caches)
            yield from locate(f"{key}.compileCache", model.compile_cache, findings)
            caches[owner] = model.compile_cache
