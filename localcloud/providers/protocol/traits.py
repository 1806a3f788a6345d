"""Values that the real provider treats as equal although they differ: sets, defaults, computed values, links.

The rules are those of the plugin SDK that upstream providers are written with (``helper/schema``): a set has no order,
an absent property that is also computed keeps its value, an absent plain value equals its default or its zero value,
and a reference is compared by what it refers to (``tpgresource.CompareSelfLinkOrResourceName``).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from localcloud.providers.protocol.difference import Difference, PropertyChange, names
from localcloud.providers.protocol.values import JsonObject, JsonValue, Path

_ZEROS: tuple[JsonValue, ...] = (False, 0, "")


@dataclass(frozen=True)
class Traits:
    """Properties of one type, by path without list indices.

    ``kept``: optional and computed. ``defaults``: what absence means where it does not mean zero. ``plain``: whether
    a path is a scalar of the schema, not an entry of a map. ``names``: those of ``links`` that the state keeps as
    names. ``caseless``: compared without regard to case.
    """

    sets: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    caseless: frozenset[str] = frozenset()
    defaults: JsonObject = field(default_factory=dict[str, JsonValue])
    plain: Callable[[str], bool] = lambda _: False


def ordered(old: JsonValue, new: JsonValue, traits: Traits, path: Path = ()) -> JsonValue:
    """``new`` with the members of its sets in the order of ``old``, those that are new last."""
    if isinstance(new, dict):
        before = old if isinstance(old, dict) else {}
        return {key: ordered(before.get(key), value, traits, (*path, key)) for key, value in new.items()}
    if not isinstance(new, list):
        return new
    before = old if isinstance(old, list) else []
    if ".".join(names(path)) in traits.sets:
        rest, common = list(new), list[JsonValue]()
        for member in before:
            if member in rest:
                rest.remove(member)
                common.append(member)
        new = common + sorted(rest, key=lambda member: json.dumps(member, sort_keys=True))
    return [
        ordered(before[index] if index < len(before) else None, item, traits, (*path, index))
        for index, item in enumerate(new)
    ]


def without_noise(difference: Difference, old: JsonObject, new: JsonObject, traits: Traits) -> Difference:
    """The difference without changes that the real provider ignores."""
    real = [change for change in difference.changes if not _same(change, old, new, traits)]
    return Difference(
        real, [change for change in difference.replaces if change in real], difference.delete_before_replace
    )


def _same(change: PropertyChange, old: JsonObject, new: JsonObject, traits: Traits) -> bool:
    where = ".".join(names(change.path))
    if change.kind == "DELETE" and where in traits.kept and isinstance(change.path[-1], str):
        return True  # a member of a list that goes is a change
    if change.kind in ("ADD", "DELETE") and traits.plain(where):
        value = _at(new if change.kind == "ADD" else old, change.path)
        return value == traits.defaults[where] if where in traits.defaults else value in _ZEROS
    if change.kind == "UPDATE" and where in traits.links:
        return same_link(_at(old, change.path), _at(new, change.path), by_name=where in traits.names)
    if change.kind == "UPDATE" and where in traits.caseless:
        before, after = _at(old, change.path), _at(new, change.path)
        return isinstance(before, str) and isinstance(after, str) and before.lower() == after.lower()
    return False


def same_link(old: JsonValue, new: JsonValue, *, by_name: bool = False) -> bool:
    """Whether two references name the same object: the path from ``projects/`` on, else the last part.

    ``by_name``: the state keeps a bare name, and upstream does not take a path for the same as a name.
    """
    if not isinstance(old, str) or not isinstance(new, str) or (by_name and "/" in new and "/" not in old):
        return False
    paths = [text[text.find("projects/") :] if "projects/" in text else "" for text in (old, new)]
    return paths[0] == paths[1] if all(paths) else old.rsplit("/", 1)[-1] == new.rsplit("/", 1)[-1]


def _at(value: JsonValue, path: Path) -> JsonValue:
    for part in path:
        if isinstance(value, dict) and isinstance(part, str):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return None
    return value
