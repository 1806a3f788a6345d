"""Rules about versions of models, and the keys of findings about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pydantic.alias_generators import to_camel

from llmd_gke.rules import rollout
from llmd_gke.rules.finding import Finding
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.validation.finding_at import SettingFinding, locate

VERSION_KEY = re.compile(r"(llmd-gke:models\[\d+\])\.versions\[\d+\](?:\.(\w+))?")


def rollouts(settings: StackSettings) -> Iterator[SettingFinding]:
    """Checks that a rollout names two versions of its model, and that the entrance can divide requests as asked."""
    door = settings.front_door
    for at, model in zip(settings.model_keys, settings.models, strict=True):
        if model.release is not None:
            apart = door is not None and not door.keep_paths
            findings = rollout.namespaces(model.namespace, model.release.namespace, behind_door=apart)
            yield from locate(f"{at}.namespace", model.namespace, findings, "llmd-gke:frontDoor")
        given, key = model.rollout, at.removesuffix(".versions[0]")
        if given is None or "versions" in key:
            continue
        for field, finding in rollout.names([one.name for one in model.versions], given.to, given.stable):
            value = given.to if field == "to" else given.stable
            yield SettingFinding(f"{key}.rollout.{field}", value, finding, (f"{key}.versions",))
        if given.sticky:
            yield from locate(f"{key}.rollout.sticky", True, rollout.sticky(behind_door=door is not None))


def once(settings: StackSettings, findings: Iterable[SettingFinding]) -> Iterator[SettingFinding]:
    """The findings, each once and at the key where its value is: a version has most of its values from its model."""
    own = {
        key: {to_camel(name) for name in model.versions[model.release.position].model_fields_set}
        for key, model in zip(settings.model_keys, settings.models, strict=True)
        if model.release is not None
    }
    if not own:
        yield from findings
        return

    def place(key: str) -> str:
        found = VERSION_KEY.match(key)
        if found is None or found[2] is None or found[2] in own.get(found[0].removesuffix(f".{found[2]}"), ()):
            return key
        return found[1] + key[found.end(2) - len(found[2]) - 1 :]

    seen: list[tuple[str, object, Finding]] = []
    for one in findings:
        placed = replace(one, key=place(one.key), needs=tuple(dict.fromkeys(place(need) for need in one.needs)))
        if (placed.key, placed.value, placed.finding) not in seen:
            seen.append((placed.key, placed.value, placed.finding))
            yield placed
