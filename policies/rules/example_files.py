"""Reads the examples that each rule rejects and accepts: ``policies/rules/GROUP/RULE.yaml``, for documentation and
tests.

::

    base: cluster               # what the examples change, unless one names another base
    bases: {NAME: OBJECT}       # more bases of this file; those of several files are in policies/rules/bases.yaml
    refused:
      - {change: {properties: {location: us-south1-ai1b}}, unknown: location}
      - {base: [NAME, OBJECT], change: {1: {spec: {replicas: 2}}}, stack: prod, protected: true}
      - objects: OBJECT         # or a list of objects, without a base
    accepted:
      - {change: {}}            # the base as it is

A base is an object as it is in a program, the name of one, or a list of these. A change is a JSON merge patch (RFC
7386: ``null`` removes a field) that can also change a list: a map whose keys are numbers changes or adds the items at
these positions, from 0. Any other value, also a list, replaces what was there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias, cast

import yaml

FOLDER = Path(__file__).parent
BASES = FOLDER / "bases.yaml"
Object: TypeAlias = Mapping[str, object]
Keys: TypeAlias = Mapping[object, object]
KEYS = {"objects", "base", "change", "unknown", "stack", "protected"}


@dataclass(frozen=True)
class Example:
    """The objects of a program, and what they show.

    ``base`` and ``change``: how the file makes them; ``base`` is ``None`` for whole objects.

    ``deciding_field`` (``unknown`` in the file) is the path of a field in the last object that decides: if it is
    unknown, the rule must report that it cannot judge. The first refused example of a rule needs it. ``stack`` is the
    name of the program's stack, ``protect`` whether its resources are protected.
    """

    objects: tuple[Object, ...]
    base: object = None
    change: object = None
    deciding_field: str = ""
    stack: str = "dev"
    protect: bool = False


@dataclass(frozen=True)
class Examples:
    """The first of each is shown in the documentation."""

    refused: tuple[Example, ...]
    accepted: tuple[Example, ...]


def file_of(rule: str) -> Path:
    """The file with the examples of a rule. Raises ``LookupError`` unless there is exactly one."""
    files = sorted(FOLDER.glob(f"*/{rule}.yaml"))
    if len(files) != 1:
        raise LookupError(f"{rule} has {len(files)} example files. Allowed: one, policies/rules/GROUP/{rule}.yaml")
    return files[0]


@cache
def shared() -> Mapping[str, Object]:
    """The bases of several files, by name."""
    return cast("Mapping[str, Object]", yaml.load(BASES.read_text("utf-8"), yaml.CSafeLoader))


@cache
def of(rule: str) -> Examples:
    """The examples of a rule. Raises ``LookupError`` if its file is missing or there are two."""
    return read(cast("Object", yaml.load(file_of(rule).read_text("utf-8"), yaml.CSafeLoader)))


def read(content: Object) -> Examples:
    """The examples in the content of a file. Raises ``ValueError`` or ``LookupError`` if they are written wrongly."""
    own = cast("Mapping[str, Object]", content.get("bases", {}))
    if twice := own.keys() & shared().keys():
        raise ValueError(f"base {', '.join(sorted(twice))} is already in {BASES.name}. Fix: choose another name")

    def example(entry: Object) -> Example:
        if unexpected := entry.keys() - KEYS:
            raise ValueError(f"an example has no {', '.join(sorted(unexpected))}. Allowed: {', '.join(sorted(KEYS))}")
        whole = entry.get("objects")
        base = entry.get("base", content.get("base")) if whole is None else None
        change = cast("Object", entry.get("change", {}))
        objects = merged(_resolved(base if whole is None else whole, {**shared(), **own}), change)
        return Example(
            tuple(cast("list[Object]", objects if isinstance(objects, list) else [objects])),
            base=base,
            change=change,
            deciding_field=str(entry.get("unknown", "")),
            stack=str(entry.get("stack", "dev")),
            protect=entry.get("protected") is True,
        )

    refused, accepted = (tuple(map(example, cast("Sequence[Object]", content[key]))) for key in ("refused", "accepted"))
    return Examples(refused, accepted)


def _resolved(base: object, bases: Mapping[str, Object]) -> object:
    if isinstance(base, str):
        if base not in bases:
            raise LookupError(f"there is no base {base}. Allowed: {', '.join(sorted(bases))}")
        return bases[base]
    return [_resolved(item, bases) for item in cast("list[object]", base)] if isinstance(base, list) else base


def merged(value: object, change: object) -> object:
    """A value with a change. Neither is changed itself."""
    if not isinstance(change, Mapping):
        return change
    changes = cast("Keys", change)
    is_list = isinstance(value, list) and all(isinstance(key, int) for key in changes)
    pairs = (
        enumerate(cast("list[object]", value)) if is_list else cast("Keys", value if isinstance(value, Mapping) else {})
    )
    result: dict[object, object] = dict(pairs)
    for key, item in changes.items():
        if item is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), item)
    return [result[key] for key in sorted(cast("dict[int, object]", result))] if is_list else result
