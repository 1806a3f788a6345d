"""Rules across the fields of a stack, using the checks of :mod:`llmd_gke.rules`. One section a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pydantic.alias_generators import to_camel

from llmd_gke.rules import names, registry
from llmd_gke.rules.finding import Finding
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.validation import budget, cluster, existing, front_door, gateway, models, monitoring, pools
from llmd_gke.settings.validation.cluster import CLOUD_VARIABLE, REHEARSAL_PROJECT
from llmd_gke.settings.validation.finding_at import SettingFinding, locate

__all__ = ["CLOUD_VARIABLE", "REHEARSAL_PROJECT", "SettingFinding", "check"]


VERSION_KEY = re.compile(r"(llmd-gke:models\[\d+\])\.versions\[\d+\](?:\.(\w+))?")


def check(settings: StackSettings) -> Iterator[SettingFinding]:
    """Every finding of the rules about settings that pydantic accepted, once and at the key where its value is: a
    version has most of its values from its model.
    """
    own = {
        key: {to_camel(name) for name in model.versions[model.release.position].model_fields_set}
        for key, model in zip(settings.model_keys, settings.models, strict=True)
        if model.release is not None
    }
    if not own:
        yield from _findings(settings)
        return

    def place(key: str) -> str:
        found = VERSION_KEY.match(key)
        if found is None or found[2] is None or found[2] in own.get(found[0].removesuffix(f".{found[2]}"), ()):
            return key
        return found[1] + key[found.end(2) - len(found[2]) - 1 :]

    seen: list[tuple[str, object, Finding]] = []
    for one in _findings(settings):
        placed = replace(one, key=place(one.key), needs=tuple(dict.fromkeys(place(need) for need in one.needs)))
        if (placed.key, placed.value, placed.finding) not in seen:
            seen.append((placed.key, placed.value, placed.finding))
            yield placed


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
    yield from models.versions(settings)
    yield from models.unique(settings)
    yield from models.storage(settings)
    yield from pools.pool_sizes(settings)
    yield from gateway.gateway(settings)
    yield from front_door.front_door(settings)
    yield from monitoring.monitoring(settings)
    yield from monitoring.traces(settings)
    yield from budget.budget(settings)
