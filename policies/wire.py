"""Reads inputs as the engine sends them: with markers for unknown values, secrets, assets and outputs.

The SDK's own reader drops secrets, is called once for each policy, and returns proxies that raise an error at an
unknown value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from google.protobuf import struct_pb2

from llmd_common.pulumi_signatures import ARCHIVE, ASSET, OUTPUT, SECRET, SIGNATURE, UNKNOWNS
from llmd_gke.rules.inputs import UNKNOWN, SecretText, Value

SHORTEST_SECRET = 4
"""Shorter texts are not removed from messages: they would match parts of ordinary words."""


def inputs(properties: struct_pb2.Struct, keys: Iterable[str] | None = None) -> dict[str, Value]:
    """The inputs of a resource, or those named ``keys``. Secrets are unwrapped: their texts are ``SecretText``."""
    fields = properties.fields
    wanted = fields if keys is None else [key for key in keys if key in fields]
    return {str(key): _value(fields[key], secret=False) for key in wanted}


def _value(message: struct_pb2.Value, *, secret: bool) -> Value:
    kind = message.WhichOneof("kind")
    if kind == "string_value":
        text = message.string_value
        if text in UNKNOWNS:
            return UNKNOWN
        return SecretText(text) if secret else text
    if kind == "number_value":
        number = message.number_value
        return int(number) if number.is_integer() else number
    if kind == "bool_value":
        return message.bool_value
    if kind == "list_value":
        return [_value(item, secret=secret) for item in message.list_value.values]
    if kind == "struct_value":
        return _map(message.struct_value.fields, secret=secret)
    return None


def _map(fields: Mapping[str, struct_pb2.Value], *, secret: bool) -> Value:
    signature = fields[SIGNATURE].string_value if SIGNATURE in fields else ""
    if signature == SECRET and "value" in fields:
        return _value(fields["value"], secret=True)
    if signature == OUTPUT:
        hidden = secret or ("secret" in fields and fields["secret"].bool_value)
        return _value(fields["value"], secret=hidden) if "value" in fields else UNKNOWN
    if signature == ASSET and "text" in fields and fields["text"].string_value:
        return _value(fields["text"], secret=secret)  # written by the program itself
    if signature in (ASSET, ARCHIVE):  # nothing that a rule inspects
        return "a file"
    return {str(key): _value(fields[key], secret=secret) for key in fields}


def secret_texts(value: Value) -> set[str]:
    """The texts inside a value that were marked as secret, without the shortest ones."""
    texts: set[str] = set()
    if isinstance(value, SecretText):
        if len(value) >= SHORTEST_SECRET:
            texts.add(str(value))
    elif isinstance(value, Mapping):
        for item in value.values():
            texts |= secret_texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            texts |= secret_texts(item)
    return texts
