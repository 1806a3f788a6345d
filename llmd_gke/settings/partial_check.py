"""Rules about the valid part of settings that are partly invalid, so that one run reports everything."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import cast

from pydantic import ValidationError

from llmd_gke.settings import validation
from llmd_gke.settings.errors import below, essential, key_of
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.validation import SettingFinding


def findings_in_valid_rest(ours: Mapping[str, object], error: ValidationError) -> list[SettingFinding]:
    """Findings of the rules about the valid rest of the settings, so that one run reports everything.

    Invalid values, as in ``error``, are replaced or removed first. Rules that need one of them (``needs`` of their
    findings) are not judged.
    """
    rest = copy.deepcopy(dict(ours))
    aside = [detail["loc"] for detail in essential(error)]
    for path in aside:
        _replace_invalid(rest, path)
    try:
        settings = StackSettings.model_validate({**_PLACEHOLDERS, **rest}, by_alias=True, by_name=False)
    except ValidationError:
        return []
    keys = {key_of(path) for path in aside} | {key_of((section,)) for section in _PLACEHOLDERS if section not in rest}
    return [
        one
        for one in validation.check(settings)
        if one.finding.severity == "error"
        and not below(one.key, keys)
        and not any(below(need, keys) or any(below(key, (need,)) for key in keys) for need in one.needs)
    ]


def _replace_invalid(settings: dict[str, object], path: tuple[int | str, ...]) -> None:
    """Replaces the value at a path by a valid one, or removes it, so that its default applies."""
    parent: object = settings
    for step in path[:-1]:
        parent = cast("Mapping[int | str, object]", parent)[step]
    section, last = path[0], path[-1]
    example = _PLACEHOLDERS.get(str(section))
    if isinstance(example, list) and len(path) > 1:
        example = cast("list[object]", example)[0]
    if isinstance(last, str) and len(path) > 1 and isinstance(example, Mapping):
        example = cast("Mapping[str, object]", example).get(str(last))
    if isinstance(parent, dict):
        table = cast("dict[int | str, object]", parent)
        table.pop(last, None)
        if example is not None:
            table[last] = example
    elif isinstance(parent, list) and isinstance(last, int):
        cast("list[object]", parent)[last] = example


_PLACEHOLDERS: dict[str, object] = {
    "project": "some-project",
    "cluster": {"name": "some", "zone": "europe-west4-a"},
    "pools": [{"name": "some", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 1000}],
    "models": [{"name": "some", "uri": "hf://Qwen/Qwen3-4B", "pool": "some"}],
}
