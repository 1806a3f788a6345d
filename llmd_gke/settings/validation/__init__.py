"""Rules across the fields of a stack, using the checks of :mod:`llmd_gke.rules`. One section a file."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.rules import names, registry
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.validation import (
    budget,
    cluster,
    existing,
    front_door,
    gateway,
    models,
    monitoring,
    pools,
    storage,
    versions,
)
from llmd_gke.settings.validation.cluster import CLOUD_VARIABLE, REHEARSAL_PROJECT
from llmd_gke.settings.validation.finding_at import SettingFinding, locate

__all__ = ["CLOUD_VARIABLE", "REHEARSAL_PROJECT", "SettingFinding", "check"]


def check(settings: StackSettings) -> Iterator[SettingFinding]:
    """Every finding of the rules about settings that pydantic accepted."""
    return versions.once(settings, _findings(settings))


def _findings(settings: StackSettings) -> Iterator[SettingFinding]:
    yield from locate("gcp:project", settings.project, names.project(settings.project))
    key = "llmd-gke:registry"
    yield from locate(key, dict(settings.registry), registry.mirrors(settings.registry), key)
    if settings.image_cache is not None:
        kept = settings.image_cache.model_dump(by_alias=True)
        yield from locate("llmd-gke:imageCache", kept, registry.image_cache(settings.registry), key)
    yield from cluster.zone(settings)
    yield from cluster.cluster(settings.cluster)
    yield from pools.control_plane_version(settings)
    yield from cluster.network(settings)
    yield from existing.existing(settings)
    yield from cluster.outside(settings)
    for key, pool in zip(settings.pool_keys, settings.pools, strict=True):
        yield from pools.pool(key, pool, settings.cluster)
    for key, model in zip(settings.model_keys, settings.models, strict=True):
        yield from models.model_rules(key, model, settings)
    yield from versions.rollouts(settings)
    yield from models.unique(settings)
    yield from storage.storage(settings)
    yield from pools.pool_sizes(settings)
    yield from gateway.gateway(settings)
    yield from front_door.front_door(settings)
    yield from monitoring.monitoring(settings)
    yield from monitoring.traces(settings)
    yield from budget.budget(settings)
