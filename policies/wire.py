"""Reads inputs as the engine sends them: with markers for unknown values, secrets, assets and outputs.

Signatures: https://github.com/pulumi/pulumi/blob/v3.259.0/sdk/go/common/resource/properties.go. The SDK's own reader
drops what is secret, is called once for each policy, and hands out proxies that raise an error at an unknown value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from google.protobuf import struct_pb2
from pulumi_policy.proxy import (
    UNKNOWN_ARCHIVE_VALUE,
    UNKNOWN_ARRAY_VALUE,
    UNKNOWN_ASSET_VALUE,
    UNKNOWN_BOOLEAN_VALUE,
    UNKNOWN_NUMBER_VALUE,
    UNKNOWN_OBJECT_VALUE,
    UNKNOWN_STRING_VALUE,
)

from llmd_gke.rules.inputs import UNKNOWN, SecretText, Value

SIGNATURE_KEY = "4dabf18193072939515e22adb298388d"
SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a marker
OUTPUT_SIGNATURE = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
FILE_SIGNATURES = frozenset({"c44067f5952c0a294b673a41bacd8c17", "0def7320c3a5731c473e5ecbe6d01bc7"})
"""Assets and archives: nothing a rule looks into."""

UNKNOWNS = frozenset(
    {
        UNKNOWN_ARCHIVE_VALUE,
        UNKNOWN_ARRAY_VALUE,
        UNKNOWN_ASSET_VALUE,
        UNKNOWN_BOOLEAN_VALUE,
        UNKNOWN_NUMBER_VALUE,
        UNKNOWN_OBJECT_VALUE,
        UNKNOWN_STRING_VALUE,
    }
)

SHORTEST_SECRET = 4
"""Shorter texts are not taken out of messages: they would be found inside ordinary words."""


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
    signature = fields[SIGNATURE_KEY].string_value if SIGNATURE_KEY in fields else ""
    if signature == SECRET_SIGNATURE and "value" in fields:
        return _value(fields["value"], secret=True)
    if signature == OUTPUT_SIGNATURE:
        hidden = secret or ("secret" in fields and fields["secret"].bool_value)
        return _value(fields["value"], secret=hidden) if "value" in fields else UNKNOWN
    if signature in FILE_SIGNATURES:
        return "a file"
    return {str(key): _value(fields[key], secret=secret) for key in fields}


def secret_texts(value: Value) -> set[str]:
    """The texts inside a value that were marked as secret, without the shortest ones."""
    found: set[str] = set()
    if isinstance(value, SecretText):
        if len(value) >= SHORTEST_SECRET:
            found.add(str(value))
    elif isinstance(value, Mapping):
        for item in value.values():
            found |= secret_texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            found |= secret_texts(item)
    return found
