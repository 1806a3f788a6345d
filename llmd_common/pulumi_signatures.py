"""Pulumi's marks of special values: on the wire, in a state, and in the output of ``pulumi stack export``.

Signatures: https://github.com/pulumi/pulumi/blob/v3.259.0/sdk/go/common/resource/sig. Unknown values:
``sdk/go/common/resource/plugin/rpc.go`` of the same release. The Python SDK has most of them as
private names, and importing it takes half a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

SIGNATURE = "4dabf18193072939515e22adb298388d"
"""A map with this key represents a special value; the key's value is its kind."""

SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - a mark, not a secret
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
ASSET = "c44067f5952c0a294b673a41bacd8c17"
ARCHIVE = "0def7320c3a5731c473e5ecbe6d01bc7"

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""Stands for an unknown string, and for any unknown value if its type does not matter."""

UNKNOWNS = frozenset(
    {
        UNKNOWN,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # bool
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # array
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
    }
)


def is_special(value: object) -> bool:
    """Whether a value carries a signature: a secret, an asset, an archive or an output."""
    return isinstance(value, Mapping) and SIGNATURE in value


def is_secret(value: object) -> bool:
    """Whether a value is marked as secret."""
    return isinstance(value, Mapping) and cast("Mapping[str, object]", value).get(SIGNATURE) == SECRET
