"""Differences between two property bags, in the form that the engine expects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from localcloud.providers.protocol.values import JsonValue, Path, leaves

Kind = Literal["ADD", "DELETE", "UPDATE"]
_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


@dataclass(frozen=True)
class PropertyChange:
    """One difference; ``parts`` are the paths of everything it adds, removes or alters."""

    path: Path
    kind: Kind
    parts: tuple[Path, ...]


@dataclass
class Difference:
    """The answer to Diff: every change, those among them that need a replacement, and in which order."""

    changes: list[PropertyChange] = field(default_factory=list[PropertyChange])
    replaces: list[PropertyChange] = field(default_factory=list[PropertyChange])
    delete_before_replace: bool = False


def changes(old: JsonValue, new: JsonValue, path: Path = ()) -> Iterator[PropertyChange]:
    """The outermost differences. ``__defaults``, which the bridge adds, is not a property."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if key == "__defaults":
                continue
            where = (*path, key)
            if key not in old:
                yield PropertyChange(where, "ADD", tuple(leaves(new[key], where)))
            elif key not in new:
                yield PropertyChange(where, "DELETE", tuple(leaves(old[key], where)))
            else:
                yield from changes(old[key], new[key], where)
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            where = (*path, index)
            if index >= len(old):
                yield PropertyChange(where, "ADD", tuple(leaves(new[index], where)))
            elif index >= len(new):
                yield PropertyChange(where, "DELETE", tuple(leaves(old[index], where)))
            else:
                yield from changes(old[index], new[index], where)
    elif old != new or type(old) is not type(new):
        yield PropertyChange(path, "UPDATE", (path, *leaves(old, path), *leaves(new, path)))


def compare(old: JsonValue, new: JsonValue, forces: Callable[[PropertyChange], bool]) -> Difference:
    """All changes, with those for which ``forces`` says so as replacements."""
    differences = list(changes(old, new))
    return Difference(differences, [change for change in differences if forces(change)])


def dotted(path: Path) -> str:
    """A path in Pulumi's notation: ``a.b[0]["c/d"]``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]'
    return text


def names(path: Path) -> tuple[str, ...]:
    """The path without list indices, as schemas name properties."""
    return tuple(part for part in path if isinstance(part, str))
