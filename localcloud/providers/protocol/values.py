"""Property values on the wire and in the cloud file: JSON, unknowns and secrets.

On the wire they are a protobuf Struct in which unknowns are fixed strings and a secret is an object with a signature
(:mod:`llmd_common.pulumi_signatures`). Here a property bag is plain JSON (unknowns unified to
:data:`~llmd_common.pulumi_signatures.UNKNOWN`) and, beside it, the paths of what was secret.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from google.protobuf import json_format, struct_pb2

from llmd_common.pulumi_signatures import SECRET, SIGNATURE, UNKNOWN, UNKNOWNS, is_secret

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = "dict[str, JsonValue]"
Path: TypeAlias = tuple[str | int, ...]

_DIGEST = "secret, sha256:"


@dataclass(frozen=True)
class Bag:
    """Properties as plain JSON, and the paths in them that are secret."""

    values: JsonObject
    secrets: frozenset[Path] = field(default_factory=frozenset[Path])


def decode(struct: struct_pb2.Struct) -> Bag:
    """A property bag from the wire. Whole numbers become ``int``; nulls are left out, as the real providers do."""
    secrets: set[Path] = set()

    def plain(value: JsonValue, path: Path) -> JsonValue:
        if isinstance(value, dict):
            if is_secret(value):
                secrets.add(path)
                return plain(value.get("value"), path)
            return {k: plain(v, (*path, k)) for k, v in value.items() if v is not None}
        if isinstance(value, list):
            return [plain(v, (*path, i)) for i, v in enumerate(value)]
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return UNKNOWN if isinstance(value, str) and value in UNKNOWNS else value

    raw = cast(JsonObject, json_format.MessageToDict(struct))
    return Bag(cast(JsonObject, plain(raw, ())), frozenset(secrets))


def encode(values: Mapping[str, JsonValue], secrets: Iterable[Path] = ()) -> struct_pb2.Struct:
    """A property bag for the wire, with a secret's signature at every path of ``secrets`` that exists."""
    marked = frozenset(secrets)

    def wrap(value: JsonValue, path: Path) -> JsonValue:
        inner: JsonValue = value
        if isinstance(value, dict):
            inner = {k: wrap(v, (*path, k)) for k, v in value.items()}
        elif isinstance(value, list):
            inner = [wrap(v, (*path, i)) for i, v in enumerate(value)]
        return {SIGNATURE: SECRET, "value": inner} if path in marked else inner

    return json_format.ParseDict(cast(JsonObject, wrap(dict(values), ())), struct_pb2.Struct())


def has_unknown(value: JsonValue) -> bool:
    """Whether an unknown is anywhere inside."""
    if isinstance(value, dict):
        return any(has_unknown(v) for v in value.values())
    if isinstance(value, list):
        return any(has_unknown(v) for v in value)
    return value == UNKNOWN


def merge(base: Mapping[str, JsonValue], over: Mapping[str, JsonValue]) -> JsonObject:
    """``over`` laid on ``base``, objects merged key by key."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def dig(value: JsonValue, *path: str) -> JsonValue:
    """The value under these keys, ``None`` where a key is missing or something is not an object."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def text(value: JsonValue, *path: str) -> str:
    """The known string under these keys, else ``""`` (missing, unknown or of another type)."""
    value_ = dig(value, *path)
    return value_ if isinstance(value_, str) and value_ != UNKNOWN else ""


def number(value: JsonValue, *path: str) -> int | None:
    """The known whole number under these keys. Numbers in strings count, as Terraform's types convert them."""
    value_ = dig(value, *path)
    if isinstance(value_, str) and value_.isdecimal():
        return int(value_)
    return int(value_) if isinstance(value_, int | float) and not isinstance(value_, bool) else None


def table(value: JsonValue, *path: str) -> JsonObject:
    """The object under these keys; an empty one if there is none."""
    value_ = dig(value, *path)
    return value_ if isinstance(value_, dict) else {}


def objects(value: JsonValue, *path: str) -> list[JsonObject]:
    """The objects of the list under these keys."""
    value_ = dig(value, *path)
    return [item for item in value_ if isinstance(item, dict)] if isinstance(value_, list) else []


def texts(value: JsonValue, *path: str) -> list[str]:
    """The known strings of the list under these keys."""
    value_ = dig(value, *path)
    return [item for item in value_ if isinstance(item, str) and item != UNKNOWN] if isinstance(value_, list) else []


def digest(value: JsonValue) -> str:
    """The digest of a secret, which the cloud file contains in its place."""
    return _DIGEST + hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def redact(values: Mapping[str, JsonValue], secrets: Iterable[Path]) -> JsonObject:
    """A copy in which every secret is replaced by its digest, so that no file of the rehearsal holds one."""
    marked = frozenset(secrets)

    def hide(value: JsonValue, path: Path) -> JsonValue:
        if path in marked:
            return digest(value)
        if isinstance(value, dict):
            return {k: hide(v, (*path, k)) for k, v in value.items()}
        if isinstance(value, list):
            return [hide(v, (*path, i)) for i, v in enumerate(value)]
        return value

    return cast(JsonObject, hide(dict(values), ()))


def restore(stored: JsonValue, original: JsonValue) -> JsonValue:
    """Undo :func:`redact` with the values the engine knows; a digest they do not fit stays and shows as drift."""
    if isinstance(stored, str) and stored.startswith(_DIGEST):
        return original if original is not None and digest(original) == stored else stored
    if isinstance(stored, dict):
        return {k: restore(v, dig(original, k)) for k, v in stored.items()}
    if isinstance(stored, list):
        others = original if isinstance(original, list) else []
        return [restore(v, others[i] if i < len(others) else None) for i, v in enumerate(stored)]
    return stored


def leaves(value: JsonValue, path: Path = ()) -> Iterator[Path]:
    """The paths of everything that is neither a non-empty object nor a non-empty list."""
    if isinstance(value, dict) and value:
        for key, below in value.items():
            yield from leaves(below, (*path, key))
    elif isinstance(value, list) and value:
        for index, below in enumerate(value):
            yield from leaves(below, (*path, index))
    else:
        yield path
