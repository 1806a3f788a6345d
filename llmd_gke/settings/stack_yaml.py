"""Stack files as Pulumi's engine reads them, which is neither YAML 1.1 nor 1.2.

Its reader (go-yaml 3, by way of pulumi/pulumi v3.259.0 ``sdk/go/common/encoding``) takes ``off`` and ``02:00`` for text
as YAML 1.2 does, but ``0777`` for 511 as 1.1 does, ``1_000`` for 1000, and ``2026-12-18`` for a date, which then
becomes ``2026-12-18 00:00:00 +0000 UTC``. PyYAML and ruamel.yaml each read some of these differently: a file that the
rehearsal accepted would be rejected, or mean something else, on Google Cloud. Texts that look like such numbers and
dates must therefore be quoted. Duplicate keys are rejected, because the first would be lost silently. So are aliases,
with which 500 bytes can expand to a gigabyte, and nesting deeper than any setting.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from typing import NoReturn, cast

import yaml

from llmd_gke.settings.plain import DEEPEST


class _Loader(yaml.SafeLoader):
    """Reads plain values as the engine does. Rejects duplicate keys, aliases, and nesting deeper than settings'."""

    _level = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise self._refusal("aliases (`*name`) are not supported in a stack file: repeat the value instead")
        if self._level == DEEPEST:
            raise self._refusal(f"nested more than {DEEPEST} levels deep")
        self._level += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._level -= 1

    def _refusal(self, problem: str) -> yaml.MarkedYAMLError:
        event = cast("yaml.Event", self.peek_event())  # pyright: ignore[reportUnknownMemberType] - untyped upstream
        mark = cast("yaml.error.Mark", event.start_mark)
        return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if key.value in seen:
                    raise yaml.MarkedYAMLError(problem=f"{key.value} is a duplicate key", problem_mark=key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_number(self, node: yaml.ScalarNode) -> int | float:
        """A number as the engine reads it: ``1.0`` and ``1e3`` are integers, because it passes settings on as JSON."""
        value = self.construct_yaml_float(node)  # pyright: ignore[reportUnknownMemberType] - untyped upstream
        if not math.isfinite(value):
            self.reject_ambiguous(node)
        return int(value) if value.is_integer() else value

    def reject_ambiguous(self, node: yaml.ScalarNode) -> NoReturn:
        """Raises ``yaml.YAMLError`` for plain text that the engine reads differently than its form suggests."""
        raise yaml.MarkedYAMLError(
            problem="Pulumi reads this as another number or as a date: put text in quotes, and write a number by its "
            "digits alone",
            problem_mark=node.start_mark,
        )


_KEPT = ("tag:yaml.org,2002:null",)
_AMBIGUOUS = "tag:llmd-gke,2026:ambiguous"
_LOOKALIKES = (
    r"^(?:[-+]?(?:0[0-9_]+(?:\.[0-9]*)?|0[bB][01_]+|0o[0-7_]+|0X[0-9a-fA-F_]+|[0-9][0-9.]*_[0-9_.eE+-]*)"
    r"|[-+]0x[0-9a-fA-F_]+|0x[0-9a-fA-F]*_[0-9a-fA-F_]*"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?)$"
)
_CORE = (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^(?:[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+)$", "-+0123456789"),
    ("float", r"^[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+0123456789."),
)


def _resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    """Tags that a plain scalar may have, with their patterns, by its first character.

    In order: ``null``, texts that must be quoted, then those of YAML 1.2's core schema.
    """
    by_first = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag in _KEPT]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    for first in "-+.0123456789":
        by_first.setdefault(first, []).append((_AMBIGUOUS, re.compile(_LOOKALIKES)))
    for name, pattern, starts in _CORE:
        for first in starts:
            by_first.setdefault(first, []).append((f"tag:yaml.org,2002:{name}", re.compile(pattern)))
    return by_first


_Loader.yaml_implicit_resolvers = _resolvers()
_Loader.yaml_constructors = {
    tag: make
    for tag, make in yaml.SafeLoader.yaml_constructors.items()
    if tag is None or tag.rsplit(":", 1)[-1] in {"null", "bool", "int", "float", "str", "seq", "map"}
}
"""Dates, sets and bytes (``!!binary``) are not values of settings."""
_Loader.yaml_constructors["tag:yaml.org,2002:float"] = _Loader.construct_number
_Loader.yaml_constructors[_AMBIGUOUS] = _Loader.reject_ambiguous


def read(text: str) -> object:
    """The content of a stack file. Raises ``yaml.YAMLError``."""
    return yaml.load(text, Loader=_Loader)  # noqa: S506 - it is a safe one


def compose(text: str) -> yaml.Node | None:
    """The nodes of a stack file, with their positions. Raises ``yaml.YAMLError``."""
    return yaml.compose(text, Loader=_Loader)
