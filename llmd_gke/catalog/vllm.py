"""The arguments of ``vllm serve``, read from ``vllm.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

FILE = Path(__file__).with_name("vllm.toml")
_TABLE = cast("dict[str, object]", tomllib.loads(FILE.read_text("utf-8")))


def _names(key: str) -> frozenset[str]:
    return frozenset(f"--{name}" for name in cast("str", _TABLE[key]).split())


def _texts(key: str) -> Mapping[str, str]:
    return cast("Mapping[str, str]", _TABLE[key])


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def shown(version: tuple[int, ...]) -> str:
    """A version in words: ``0.27``."""
    return ".".join(map(str, version))


VERSION = _version(cast("str", _TABLE["version"]))
"""The version (major, minor) whose arguments these are."""
VALUES, LISTS = _names("values"), _names("lists")
"""Arguments that one value follows, and those that any number of values follow."""
SWITCHES = _names("flags") | _names("switches") | {f"--no-{name[2:]}" for name in _names("switches")} | {"--help"}
OPTIONS = SWITCHES | VALUES | LISTS
SHORT = _texts("short")
"""Short names, and the arguments that they stand for."""
NEEDS = _texts("needs")
"""Arguments, and the one without which the server exits."""
PARSERS: Mapping[str, frozenset[str]] = {name: frozenset(text.split()) for name, text in _texts("parsers").items()}
"""Names of parsers that the server knows, by argument."""
REMOVED: Mapping[str, tuple[tuple[int, ...], str]] = {
    name: (_version(last), instead)
    for name, (last, instead) in cast("Mapping[str, list[str]]", _TABLE["removed"]).items()
}
"""Arguments of older versions: the last one that has them, and what took their place (nothing: empty)."""
