"""Ways into Kubernetes objects, where a part may be absent: absent, ``None`` and empty are the same there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:  # its library is not there for the rehearsal alone
    from localcloud.kubernetes.client import Object


def part(obj: Mapping[str, Any], *path: str) -> Object:
    """The object below those keys, an empty one where there is none."""
    found: Any = obj
    for key in path:
        found = cast("Mapping[str, Any]", found).get(key) or {}
    return cast("Object", found)


def each(obj: Mapping[str, Any], *path: str) -> list[Object]:
    """The objects of the list below those keys, none where there is no list."""
    return cast("list[Object]", part(obj, *path[:-1]).get(path[-1]) or [])


def words(obj: Mapping[str, Any], *path: str) -> list[str]:
    """The texts of the list below those keys."""
    return [str(word) for word in cast("list[Any]", part(obj, *path[:-1]).get(path[-1]) or [])]


def text(obj: Mapping[str, Any], *path: str) -> str:
    """The text below those keys, empty where there is none."""
    found = part(obj, *path[:-1]).get(path[-1])
    return "" if found is None else str(found)
