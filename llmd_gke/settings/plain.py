"""Limits for every value of a stack file, regardless of its meaning: size, depth, printable characters.

Texts of the settings go into objects of two clouds, into arguments and into messages. None of them may contain
characters that control a terminal or that a reader cannot see.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import cast

from llmd_gke.redaction import UNPRINTABLE
from llmd_gke.rules.finding import Finding

DEEPEST = 32
"""Maximum depth of tables and lists; settings have eight levels."""
MOST_VALUES = 20_000
"""Maximum number of values in all settings together."""
LONGEST_TEXT = 8_192
"""Maximum length of one text, characters. The longest in use are JSON in ``extraArgs``."""

Path = tuple[int | str, ...]


class Unreadable(Exception):
    """The settings are nested too deeply, have too many values, or have keys with invisible characters."""

    def __init__(self, path: Path, finding: Finding) -> None:
        self.path, self.finding = path, finding
        super().__init__(finding.problem)


def plain(settings: Mapping[str, object]) -> dict[str, object]:
    """A copy whose keys are text, as the engine passes them to the program. Raises :class:`Unreadable`."""
    count = 0

    def copied(value: object, path: Path) -> object:
        nonlocal count
        count += 1
        if count > MOST_VALUES:
            raise Unreadable(path[:1], Finding("too-large", f"the settings have more than {MOST_VALUES} values"))
        if len(path) > DEEPEST:
            finding = Finding("too-deep", f"this is nested more than {DEEPEST} levels deep", fix="see docs/settings.md")
            raise Unreadable(path[:1], finding)
        if isinstance(value, Mapping):
            table = cast("Mapping[object, object]", value)
            return {(name := _name(key, path)): copied(inner, (*path, name)) for key, inner in table.items()}
        if isinstance(value, list | tuple):
            return [copied(entry, (*path, index)) for index, entry in enumerate(cast("list[object]", value))]
        return value

    return cast("dict[str, object]", copied(settings, ()))


def _name(key: object, path: Path) -> str:
    name = str(key).lower() if key is None or isinstance(key, bool) else str(key)
    if hidden := _unprintable(name):
        raise Unreadable(
            path, Finding("characters", f"a key here contains {hidden}", "printable characters", "retype it")
        )
    if len(name) > LONGEST_TEXT:
        finding = Finding("too-large", f"a key here has {len(name)} characters", f"at most {LONGEST_TEXT}")
        raise Unreadable(path, finding)
    return name


def unfit(settings: Mapping[str, object]) -> Iterator[tuple[Path, str, Finding]]:
    """The texts that are not allowed in settings, each as path, text and finding."""
    waiting: list[tuple[Path, object]] = [((), settings)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [((*path, key), inner) for key, inner in cast("Mapping[str, object]", value).items()]
        elif isinstance(value, list):
            waiting += [((*path, index), entry) for index, entry in enumerate(cast("list[object]", value))]
        elif isinstance(value, str):
            text = value.replace("\n", " ").replace("\t", " ") if _may_have_lines(path) else value
            if hidden := _unprintable(text):
                allowed = "printable characters on one line"
                yield path, value, Finding("characters", f"this value contains {hidden}", allowed, "retype the value")
            elif len(value) > LONGEST_TEXT:
                allowed = f"at most {LONGEST_TEXT}"
                yield path, value, Finding("too-large", f"this value has {len(value)} characters", allowed)


def _may_have_lines(path: Path) -> bool:
    """Whether the text at ``path`` may have several lines: arguments may contain a template or JSON."""
    return len(path) > 2 and path[0] == "models" and path[2] == "extraArgs"


def _unprintable(text: str) -> str:
    if text.isascii() and text.isprintable():
        return ""
    for character in text:
        if unicodedata.category(character) in UNPRINTABLE:
            code = ord(character)
            names = {10: "a line break", 13: "a carriage return", 9: "a tab", 0: "a NUL", 27: "an escape character"}
            name = names.get(code) or unicodedata.name(character, "a control character").lower()
            return f"{name} (U+{code:04X})"
    return ""
