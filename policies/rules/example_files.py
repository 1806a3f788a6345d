"""Reads the examples that each rule rejects and accepts: ``policies/rules/GROUP/RULE.yaml``, for documentation and
tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

import yaml

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Example:
    """Objects as YAML (several are divided by ``---``), as they are in a program, and what they show.

    ``deciding_field`` (``unknown`` in the file) is the path of a field that decides: if it is unknown, the rule must
    report that it cannot judge. ``stack`` is the name of the program's stack, ``protect`` whether its resources are
    protected.
    """

    yaml: str
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
def of(rule: str) -> Examples:
    """The examples of a rule. Raises ``LookupError`` if its file is missing or there are two."""
    content = cast("Mapping[str, Sequence[Mapping[str, object]]]", yaml.safe_load(file_of(rule).read_text("utf-8")))
    refused, accepted = (tuple(map(_example, content[key])) for key in ("refused", "accepted"))
    return Examples(refused, accepted)


def _example(entry: Mapping[str, object]) -> Example:
    unexpected = set(entry) - {"objects", "unknown", "stack", "protected"}
    if unexpected:
        raise ValueError(f"an example has no {', '.join(sorted(unexpected))}")
    return Example(
        str(entry["objects"]),
        str(entry.get("unknown", "")),
        str(entry.get("stack", "dev")),
        entry.get("protected") is True,
    )
