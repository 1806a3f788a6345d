"""Refuses unknown, missing and misshapen properties, nested ones too, by the SDK's own types (``types.json``)."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path as FilePath
from typing import TypedDict

from llmd_common.pulumi_signatures import UNKNOWN
from localcloud.providers.protocol.difference import dotted, names
from localcloud.providers.protocol.rules import Failure
from localcloud.providers.protocol.traits import Traits
from localcloud.providers.protocol.values import JsonObject, JsonValue, Path

TABLE = FilePath(__file__).with_name("types.json")
TRAITS = FilePath(__file__).with_name("traits.json")
"""Facts of the published provider's schema, with their source; see :mod:`localcloud.providers.google.generate_traits`.

For each type: ``forceNew`` (a block in it forces where it comes or goes), ``sets``, what is optional and computed
(``kept``), references that it compares by what they refer to (``links``, of which its state keeps ``names`` bare), what
it compares without regard to case (``caseless``), other properties of which it suppresses some differences
(``suppressed``), ``secrets``, ``defaults`` other than zero, values that it allows (``allowed``, ``bounds``,
``patterns``, and in ways of their own ``checked``), and where it differs from the official plugin (``onlyOfficial``,
``onlyHere``, ``otherType``). Paths are without list indices.
"""


class Table(TypedDict):
    """The content of ``types.json``, see :mod:`localcloud.providers.google.generate`."""

    types: dict[str, str]
    shapes: dict[str, dict[str, str]]


@cache
def table() -> Table:
    """The generated table."""
    return json.loads(TABLE.read_text())


class Facts(TypedDict, total=False):
    """The facts of one type: see :data:`TRAITS`."""

    forceNew: list[str]
    sets: list[str]
    kept: list[str]
    links: list[str]
    names: list[str]
    caseless: list[str]
    suppressed: list[str]
    secrets: list[str]
    defaults: JsonObject
    allowed: dict[str, list[str]]
    bounds: dict[str, tuple[float, float | None]]
    patterns: dict[str, str]
    checked: list[str]
    onlyOfficial: list[str]
    onlyHere: list[str]
    otherType: dict[str, tuple[str, str]]


class FactSource(TypedDict):
    """The source of the facts: provider, version, module and SDK."""

    provider: str
    version: str
    module: str
    sdk: str


class Traited(TypedDict):
    """The content of :data:`TRAITS`."""

    source: FactSource
    types: dict[str, Facts]


@cache
def _traits() -> Traited:
    return json.loads(TRAITS.read_text())


def source() -> FactSource:
    """The source of the facts."""
    return _traits()["source"]


def facts(kind: str) -> Facts:
    """The facts of a type, none for one that is not listed."""
    return _traits()["types"].get(kind, {})


@cache
def traits(kind: str) -> Traits:
    """Values that the provider treats as equal in resources of that type."""
    of_type = facts(kind)
    return Traits(
        sets=frozenset(of_type.get("sets", ())),
        kept=frozenset(of_type.get("kept", ())),
        links=frozenset(of_type.get("links", ())),
        names=frozenset(of_type.get("names", ())),
        caseless=frozenset(of_type.get("caseless", ())),
        defaults=of_type.get("defaults", {}),
        plain=lambda path: type_of(kind, path) in _PLAIN,
    )


@cache
def is_block(kind: str, path: str) -> bool:
    """Whether a property holds properties of its own. Then it forces a new resource only where it comes or goes."""
    return type_of(kind, path).lstrip("[").startswith("@")


_PLAIN = ("string", "integer", "number", "boolean")


def type_of(kind: str, path: str) -> str:
    """The type of a property, ``""`` for what the table does not list, such as an entry of a map."""
    shapes, type_name = table()["shapes"], f"@{table()['types'][kind]}"
    for part in path.split("."):
        shape = type_name.lstrip("!").lstrip("[")
        if not shape.startswith("@"):
            return ""
        type_name = shapes.get(shape[1:], {}).get(part, "")
    return type_name.lstrip("!")


def failures_in(kind: str, inputs: JsonObject) -> Iterator[Failure]:
    """Problems of the inputs' shape and values. ``kind`` is a type that the table lists."""
    yield from _object(table()["types"][kind], inputs, "")
    of_type = facts(kind)
    for path, value in _scalars(inputs, ()):
        where, shown = ".".join(names(path)), dotted(path)
        if (allowed := of_type.get("allowed", {}).get(where)) and value not in allowed:
            listed = ", ".join(one for one in allowed if one)
            yield Failure(shown, f"expected {shown} to be one of {listed}, got {value}")  # validation.StringInSlice
        if (bounds := of_type.get("bounds", {}).get(where)) and isinstance(value, int | float):
            least, most = bounds  # validation.IntBetween, IntAtLeast
            if most is not None and not least <= value <= most:
                yield Failure(shown, f"expected {shown} to be in the range ({least:g} - {most:g}), got {value}")
            elif most is None and value < least:
                yield Failure(shown, f"expected {shown} to be at least ({least:g}), got {value}")
        pattern = of_type.get("patterns", {}).get(where)
        if pattern and isinstance(value, str) and not re.search(pattern, value):
            yield Failure(shown, f'"{shown}" ("{value}") doesn\'t match regexp "{pattern}"')  # verify.ValidateRegexp


def _scalars(value: JsonValue, path: Path) -> Iterator[tuple[Path, JsonValue]]:
    """Every known scalar with its path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _scalars(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _scalars(item, (*path, index))
    elif value is not None and value != UNKNOWN:
        yield path, value


def _object(shape: str, value: JsonObject, path: str) -> Iterator[Failure]:
    properties = table()["shapes"][shape]
    for key, item in value.items():
        if key == "__defaults":
            continue
        where = f"{path}.{key}" if path else key
        if key not in properties:
            near = difflib.get_close_matches(key, properties, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            # The bridge's own words: pulumi/pulumi-terraform-bridge pkg/tfbridge/provider.go formatCheckFailure.
            yield Failure(where, f"An argument named {key!r} is not expected here{hint} ({shape})")
        else:
            yield from _value(properties[key].removeprefix("!"), item, where)
    for key, kind in properties.items():
        if kind.startswith("!") and key not in value:
            where = f"{path}.{key}" if path else key
            yield Failure(
                where, f"Missing required argument: the argument {key!r} is required, but no definition was found"
            )


def _value(kind: str, value: JsonValue, path: str) -> Iterator[Failure]:
    if value == UNKNOWN or kind == "any":
        return
    if kind.startswith("["):
        if not isinstance(value, list):
            yield Failure(path, "a list is expected")
        else:
            for index, item in enumerate(value):
                yield from _value(kind[1:], item, f"{path}[{index}]")
    elif kind.startswith("{"):
        if not isinstance(value, dict):
            yield Failure(path, "a map is expected")
        else:
            for key, item in value.items():
                yield from _value(kind[1:], item, f"{path}.{key}")
    elif kind.startswith("@"):
        if not isinstance(value, dict):
            yield Failure(path, "an object is expected")
        else:
            yield from _object(kind[1:], value, path)
    elif isinstance(value, dict | list):
        yield Failure(path, f"a {kind} is expected")
    elif kind == "integer" and not _whole(value):
        yield Failure(path, "a whole number is expected")
    elif kind == "boolean" and value not in (True, False, "true", "false"):
        yield Failure(path, "true or false is expected")


def _whole(value: JsonValue) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, str) and value.isdecimal())
