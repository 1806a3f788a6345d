"""What objects are made of: the paths that lead to their values, whatever those are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def paths(value: Any, at: str = "") -> Iterator[str]:
    """Every path to a value with the value's type; elements of a list share theirs. ``None`` says nothing."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, f"{at}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, f"{at}[]")
    elif value is not None:
        yield f"{at}: {type(value).__name__}"


def of(objects: Iterable[Any]) -> set[str]:
    return {path for one in objects for path in paths(one)}
