"""Stack files as Pulumi reads them: YAML 1.2, in which ``off`` and ``02:00`` are text.

PyYAML follows YAML 1.1, where they are a truth value and a number of minutes: what the rehearsal accepted would then be
refused, or mean something else, on Google Cloud. Keys that stand twice are refused: the first would be lost in silence.
"""

from __future__ import annotations

import re
from collections.abc import Hashable

import yaml


class _Loader(yaml.SafeLoader):
    """YAML 1.2's core schema, and every key once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if key.value in seen:
                    raise yaml.MarkedYAMLError(problem=f"{key.value} stands there twice", problem_mark=key.start_mark)
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


def read(text: str) -> object:
    """The content of a stack file. Raises ``yaml.YAMLError``."""
    return yaml.load(text, Loader=_Loader)  # noqa: S506 - it is a safe one
