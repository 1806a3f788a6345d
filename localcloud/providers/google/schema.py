"""Refuses unknown, missing and misshapen properties, nested ones too, by the SDK's own types (``types.json``)."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypedDict

from llmd_gke.pulumi_signatures import UNKNOWN
from localcloud.providers.protocol.rules import Failure
from localcloud.providers.protocol.traits import Traits
from localcloud.providers.protocol.values import JsonObject, JsonValue

TABLE = Path(__file__).with_name("types.json")
TRAITS = Path(__file__).with_name("traits.json")
"""For each type its ``sets``, what is optional and computed (``kept``), references that it compares by what they refer
to (``links``), and ``defaults`` other than zero; see :mod:`localcloud.providers.google.generate_traits`."""


class Table(TypedDict):
    """See :mod:`localcloud.providers.google.generate`."""

    types: dict[str, str]
    shapes: dict[str, dict[str, str]]


@cache
def table() -> Table:
    """The generated table."""
    return json.loads(TABLE.read_text())


@cache
def _traits() -> dict[str, dict[str, list[str] | JsonObject]]:
    return json.loads(TRAITS.read_text())


@cache
def traits(kind: str) -> Traits:
    """What the provider takes for the same in resources of that type."""
    found = _traits().get(kind, {})
    defaults = found.get("defaults")
    return Traits(
        sets=frozenset(found.get("sets", ())),
        kept=frozenset(found.get("kept", ())),
        links=frozenset(found.get("links", ())),
        defaults=defaults if isinstance(defaults, dict) else {},
        plain=lambda path: type_of(kind, path) in _PLAIN,
    )


_PLAIN = ("string", "integer", "number", "boolean")


def type_of(kind: str, path: str) -> str:
    """The type of a property, ``""`` for what the table does not list, such as an entry of a map."""
    shapes, found = table()["shapes"], f"@{table()['types'][kind]}"
    for part in path.split("."):
        shape = found.lstrip("!").lstrip("[")
        if not shape.startswith("@"):
            return ""
        found = shapes.get(shape[1:], {}).get(part, "")
    return found.lstrip("!")


def judge(kind: str, inputs: JsonObject) -> Iterator[Failure]:
    """What is wrong with the inputs' shape. ``kind`` is a type the table lists."""
    yield from _object(table()["types"][kind], inputs, "")


def _object(shape: str, value: JsonObject, path: str) -> Iterator[Failure]:
    known = table()["shapes"][shape]
    for key, item in value.items():
        if key == "__defaults":
            continue
        where = f"{path}.{key}" if path else key
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            # The bridge's own words: pulumi/pulumi-terraform-bridge pkg/tfbridge/provider.go formatCheckFailure.
            yield Failure(where, f"An argument named {key!r} is not expected here{hint} ({shape})")
        else:
            yield from _value(known[key].removeprefix("!"), item, where)
    for key, kind in known.items():
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
