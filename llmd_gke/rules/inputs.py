"""Walks through an object's fields that may be missing, unknown, or of the wrong shape.

Rules about whole objects (HTTPRoutes, node pools …) get a :class:`Input` and never have to handle errors: unknown
values and wrong types are noted while reading, so that the caller of the rule can report them.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


class Unknown(enum.Enum):
    """A value that is only known after a resource was created."""

    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown.UNKNOWN


class SecretText(str):
    """A text that the program marked as secret. It must not appear in a message."""

    __slots__ = ()


Value: TypeAlias = "bool | int | float | str | Unknown | Mapping[str, Value] | Sequence[Value] | None"


def table_of(value: Value) -> Mapping[str, Value]:
    """The value if it is a map, else an empty one. It notes nothing."""
    return value if isinstance(value, Mapping) else {}


def items_of(value: Value) -> Sequence[Value]:
    """The value if it is a list, else an empty one. It notes nothing."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


@dataclass
class Notes:
    """Notes about what a rule read: paths of unknown values, and wrong types."""

    unknown: list[str] = field(default_factory=list[str])
    malformed: list[str] = field(default_factory=list[str])

    def note_unknown(self, path: str) -> None:
        """Records the path of an unknown value, once."""
        if path not in self.unknown:
            self.unknown.append(path)

    def note_malformed(self, path: str, value: Value, expected: str) -> None:
        """Records a wrong type, once. The value itself may be a secret: only its type is kept."""
        type_name = "a string" if isinstance(value, str) else type(value).__name__
        type_name = {
            "int": "a number",
            "float": "a number",
            "bool": "a boolean",
            "dict": "a map",
            "list": "a list",
        }.get(type_name, type_name)
        text = f"{path or 'the object'} is {type_name} but must be {expected}"
        if text not in self.malformed:
            self.malformed.append(text)


LARGEST_NUMBER = 2**63
"""APIs use 64 bits for integers; sums and products of smaller ones fit into a float."""
LONGEST_NUMBER = 19
"""Maximum number of digits of such a number."""


class Input:
    """A value inside an object, with its path."""

    __slots__ = ("notes", "path", "value")

    def __init__(self, value: Value, path: str = "", notes: Notes | None = None) -> None:
        self.value = value
        self.path = path
        self.notes = Notes() if notes is None else notes

    def get(self, *keys: str) -> Input:
        """The value behind a chain of keys: missing if one is missing or malformed, unknown below an unknown value."""
        node = self
        for key in keys:
            if isinstance(node.value, Unknown):
                return node
            path = f"{node.path}.{key}" if node.path else key
            node = Input(node.mapping().get(key), path, self.notes)
        return node

    def mapping(self) -> Mapping[str, Value]:
        """The value as a map; empty for any other value."""
        if isinstance(self.value, Mapping):
            return self.value
        self._wrong_type("a map")
        return {}

    def entries(self) -> Iterator[tuple[str, Input]]:
        """The entries of a map."""
        for key in self.mapping():
            yield key, self.get(key)

    def each(self) -> Iterator[Input]:
        """The items of a list; none for any other value."""
        if isinstance(self.value, Sequence) and not isinstance(self.value, str):
            for position, item in enumerate(self.value):
                yield Input(item, f"{self.path}[{position}]", self.notes)
        else:
            self._wrong_type("a list")

    def within(self, type_: type[object]) -> Iterator[Input]:
        """The value, and every value inside it, that is of a type."""
        if isinstance(self.value, type_):
            yield self
        if isinstance(self.value, Mapping):
            for _, item in self.entries():
                yield from item.within(type_)
        elif items_of(self.value):
            for item in self.each():
                yield from item.within(type_)

    def text(self) -> str | None:
        """The value as text, or ``None``."""
        return self.value if isinstance(self.value, str) else self._wrong_type("a string")

    def integer(self) -> int | None:
        """The value as an integer, also if it is written as text (``"4"``), or ``None``."""
        value = self.value
        if isinstance(value, bool):
            return self._wrong_type("a number")
        if isinstance(value, str) and len(value) <= LONGEST_NUMBER and value.strip().isdecimal():
            return int(value)
        if isinstance(value, int | float) and abs(value) < LARGEST_NUMBER and value == int(value):
            return int(value)
        return self._wrong_type("a whole number")

    def boolean(self) -> bool | None:
        """The value as a boolean, or ``None``."""
        return self.value if isinstance(self.value, bool) else self._wrong_type("true or false")

    def present(self) -> bool:
        """Whether there is a value. An unknown one is noted and counts as absent."""
        if isinstance(self.value, Unknown):
            self.notes.note_unknown(self.path)
            return False
        return self.value is not None

    def _wrong_type(self, expected: str) -> None:
        if isinstance(self.value, Unknown):
            self.notes.note_unknown(self.path)
        elif self.value is not None:
            self.notes.note_malformed(self.path, self.value, expected)
