"""Writes ``types.json``: the properties of the resource types that the stand-in knows, from the Google SDK's classes.

``python -m localcloud.providers.google.generate`` after a change of pulumi-gcp's version or a new resource type.
Importing the SDK's classes takes seconds, so the stand-in reads this table. A property is required where the
argument class's signature has no default.

Table: ``types`` maps a resource type to the name of its shape, ``shapes`` maps a shape to its properties. A property
is written ``!`` if required, then ``[`` for a list or ``{`` for a map, then ``any``, ``string``, ``integer``,
``number``, ``boolean`` or ``@Shape``.
"""

from __future__ import annotations

import collections.abc
import importlib
import inspect
import json
import typing
from pathlib import Path
from types import UnionType

from localcloud.providers.google.registry import KINDS, upstream_name
from localcloud.providers.google.schema import TABLE

RESOURCES = Path(__file__).resolve().parents[2] / "go_builds" / "gomod" / "google-provider" / "resources.json"
"""The types that the plugin serves: names in the published provider, and tokens."""

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _plumbing(hint: object) -> bool:
    cls = typing.get_origin(hint) or hint
    return cls in (type(None), collections.abc.Awaitable) or getattr(cls, "__name__", "") == "Output"


def build() -> dict[str, object]:
    """The current table."""
    from pulumi import get_type_token
    from pulumi._types import input_type_py_to_pulumi_names, input_type_types

    types: dict[str, str] = {}
    shapes: dict[str, dict[str, str]] = {}

    def kind(hint: object) -> str:
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, UnionType):
            # Input[T] is T, Awaitable[T] or Output[T]; the SDK unwraps it at the top, not inside lists and maps.
            kinds = {kind(a) for a in arguments if not _plumbing(a)}
            return kinds.pop() if len(kinds) == 1 else "any"
        if origin is collections.abc.Sequence:
            return f"[{kind(arguments[0])}"
        if origin is collections.abc.Mapping:
            return f"{{{kind(arguments[1])}"
        if isinstance(hint, type):
            return _SCALARS.get(hint) or f"@{shape(hint)}"
        return "any"

    def shape(cls: type) -> str:
        name = f"{cls.__module__.split('.')[1]}.{cls.__name__.removesuffix('Args')}"
        if name in shapes:
            return name
        properties = shapes[name] = {}
        hints = input_type_types(cls)
        parameters = inspect.signature(cls.__init__).parameters
        for python, wire in input_type_py_to_pulumi_names(cls).items():
            required = "!" if parameters[python].default is inspect.Parameter.empty else ""
            properties[wire] = required + kind(hints[wire])
        return name

    for token in sorted(KINDS):
        _, path, cls = token.split(":")
        module = importlib.import_module(f"pulumi_gcp.{path.split('/')[0]}")
        if (given := get_type_token(getattr(module, cls))) != token:
            raise ValueError(f"the SDK names {cls} {given}, the module of its group says {token}")
        types[token] = shape(getattr(module, f"{cls}Args"))
    return {"types": types, "shapes": dict(sorted(shapes.items()))}


def write(path: Path = TABLE) -> None:
    """Write the table, one shape a line."""
    table = build()
    lines = [f'"types": {json.dumps(table["types"], indent=1)}']
    shapes = typing.cast("dict[str, dict[str, str]]", table["shapes"])
    body = ",\n".join(f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in shapes.items())
    path.write_text("{" + lines[0] + ',\n"shapes": {\n' + body + "\n}}\n")


def resources() -> str:
    """``resources.json`` as it should be: the plugin serves exactly the types that the stand-in knows."""
    return json.dumps({upstream_name(token): token for token in sorted(KINDS)}, indent=1) + "\n"


if __name__ == "__main__":
    write()
    RESOURCES.write_text(resources())
