"""Stack files as Pulumi reads them: YAML 1.2, in which ``off`` and ``02:00`` are text.

PyYAML follows YAML 1.1, where they are a truth value and a number of minutes: what the rehearsal accepted would then be
refused, or mean something else, on Google Cloud. Duplicate keys are refused: the first would be lost in silence. So are
aliases, by which 500 bytes say a gigabyte, and nesting that no setting has.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import cast

import yaml

DEEPEST = 32
"""Levels of a stack file; settings have eight."""


class _Loader(yaml.SafeLoader):
    """YAML 1.2's core schema, every key once, no aliases, and no deeper than settings are."""

    _level = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise self._refusal("aliases (`*name`) are not read in a stack file: write the value out")
        if self._level == DEEPEST:
            raise self._refusal(f"nested more than {DEEPEST} deep")
        self._level += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._level -= 1

    def _refusal(self, problem: str) -> yaml.MarkedYAMLError:
        event = cast("yaml.Event", self.peek_event())  # pyright: ignore[reportUnknownMemberType] - untyped upstream
        place = cast("yaml.error.Mark", event.start_mark)
        return yaml.MarkedYAMLError(problem=problem, problem_mark=place)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if key.value in seen:
                    raise yaml.MarkedYAMLError(problem=f"{key.value} is a duplicate key", problem_mark=key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)


_KEPT = ("tag:yaml.org,2002:null", "tag:yaml.org,2002:merge")
_CORE = (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^(?:[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+)$", "-+0123456789"),
    ("float", r"^[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+0123456789."),
)


def _resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    """By first character, which tags plain text may have: those that 1.1 and 1.2 share, then 1.2's."""
    found = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag in _KEPT]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    for name, pattern, starts in _CORE:
        for first in starts:
            found.setdefault(first, []).append((f"tag:yaml.org,2002:{name}", re.compile(pattern)))
    return found


_Loader.yaml_implicit_resolvers = _resolvers()
_Loader.yaml_constructors = {
    tag: make
    for tag, make in yaml.SafeLoader.yaml_constructors.items()
    if tag is None or tag.rsplit(":", 1)[-1] in {"null", "bool", "int", "float", "str", "seq", "map"}
}
"""A date, a set or bytes (``!!binary``) is no value of a setting."""


def read(text: str) -> object:
    """The content of a stack file. Raises ``yaml.YAMLError``."""
    return yaml.load(text, Loader=_Loader)  # noqa: S506 - it is a safe one
