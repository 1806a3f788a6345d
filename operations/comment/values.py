"""Determines which values of a resource a comment may show. Comments are public: in doubt, only the change is
mentioned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from llmd_common.pulumi_signatures import SIGNATURE, UNKNOWN
from llmd_gke import redaction

SECRET_KINDS = ("kubernetes:core/v1:Secret", "kubernetes:v1:Secret")
LONGEST = 60

Change = tuple[str, str]
"""A path into the inputs, and the step from the old value to the new one (empty where it may not be shown)."""


def changed(type_: str, before: object, after: object) -> list[Change]:
    """Every leaf that differs between two inputs of a resource of that type, by path."""
    hidden = type_ in SECRET_KINDS
    return [
        (path, "" if hidden or redaction.may_be_secret("", path) else _step(old, new))
        for path, old, new in _leaves("", before, after)
    ]


def _leaves(path: str, before: object, after: object) -> Iterator[tuple[str, object, object]]:
    if before == after:
        return
    if _is_table(before) and _is_table(after):
        for key in dict.fromkeys([*before, *after]):
            old, new = before.get(key, _NOTHING), after.get(key, _NOTHING)
            yield from _leaves(f"{path}.{key}" if path else str(key), old, new)
    elif _is_list(before) and _is_list(after) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _leaves(f"{path}[{index}]", one, other)
    else:
        yield path, before, after


_NOTHING = object()


def _is_table(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, Mapping) and SIGNATURE not in value


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _step(before: object, after: object) -> str:
    old, new = _shown(before), _shown(after)
    return f"{old} → {new}" if old and new else ""


def _shown(value: object) -> str:
    """A value as text; empty if it may be a secret, is large, or is not a scalar."""
    if value is _NOTHING:
        return "unset"
    if value == UNKNOWN:
        return "known later"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        text = str(value)
        short = text and len(text) <= LONGEST and text.isprintable()
        return text if short and not redaction.may_be_secret(text) else ""
    return ""
