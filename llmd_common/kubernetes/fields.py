"""Access to fields of Kubernetes objects that may be absent: absent, ``None`` and a value of another type are treated
alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

Object: TypeAlias = dict[str, Any]
"""An object as the API server sends it. ``Any``, since the server has checked it against its schema already."""

Key: TypeAlias = tuple[str, str]


def get(obj: object, *path: str) -> object:
    """The value below those keys; ``None`` if one is missing."""
    for step in path:
        if not isinstance(obj, Mapping):
            return None
        obj = cast("Mapping[str, object]", obj).get(step)
    return obj


def part(obj: object, *path: str) -> Object:
    """The object below those keys; an empty one if there is none."""
    value = get(obj, *path)
    return cast("Object", value) if isinstance(value, Mapping) else {}


def _entries(obj: object, *path: str) -> list[object]:
    value = get(obj, *path)
    return cast("list[object]", value) if isinstance(value, list) else []


def each(obj: object, *path: str) -> list[Object]:
    """The objects of the list below those keys; none if there is no list."""
    return [cast("Object", entry) for entry in _entries(obj, *path) if isinstance(entry, Mapping)]


def texts(obj: object, *path: str) -> list[str]:
    """The texts of the list below those keys."""
    return [str(entry) for entry in _entries(obj, *path) if isinstance(entry, str | int | float)]


def text(obj: object, *path: str) -> str:
    """The text below those keys, also of a number; empty if there is none."""
    value = get(obj, *path)
    return str(value) if isinstance(value, str | int | float) else ""


def number(obj: object, *path: str) -> int | None:
    """The whole number below those keys, also one in a text, as quantities are."""
    value = get(obj, *path)
    if isinstance(value, str):
        return int(value) if value.isdecimal() else None
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def strings(value: object) -> dict[str, str]:
    """The entries of a table that are strings."""
    return {key: entry for key, entry in part(value).items() if isinstance(entry, str)}


def name(obj: object) -> str:
    """``metadata.name``."""
    return text(obj, "metadata", "name")


def namespace(obj: object) -> str:
    """``metadata.namespace``, empty for cluster-wide objects."""
    return text(obj, "metadata", "namespace")


def key(obj: object) -> Key:
    """Namespace and name."""
    return namespace(obj), name(obj)


def uid(obj: object) -> str:
    """``metadata.uid``, which a successor of the same name does not share."""
    return text(obj, "metadata", "uid")


def labels(obj: object) -> dict[str, str]:
    """``metadata.labels``."""
    return strings(get(obj, "metadata", "labels"))


def label(obj: object, key: str) -> str:
    """A label's value, empty where it is not set."""
    return text(obj, "metadata", "labels", key)


def being_deleted(obj: object) -> bool:
    """Whether the object has a deletion timestamp."""
    return bool(text(obj, "metadata", "deletionTimestamp"))


def conditions(obj: object, *path: str) -> dict[str, Object]:
    """The conditions of a status by type; ``path``: the keys of the object with ``conditions`` (default:
    ``status``).
    """
    return {text(one, "type"): one for one in each(obj, *(path or ("status",)), "conditions")}


def condition_is_true(obj: object, kind: str) -> bool:
    """Whether ``status.conditions`` has this condition with status True."""
    return text(conditions(obj).get(kind), "status") == "True"
