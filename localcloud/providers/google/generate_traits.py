"""Makes ``traits.json`` of the real schema: ``python -m localcloud.providers.google.generate_traits``.

The published provider, built by ``python -m localcloud programs pulumi-resource-gcp``, prints it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TypedDict

from localcloud import binaries
from localcloud.providers.google.schema import TRAITS
from localcloud.providers.protocol.values import JsonValue

INLINE = "nodePools."
"""Pools inside of a cluster: the program has none."""

REFERENCES = frozenset(
    {
        "bucket",
        "managedZone",
        "network",
        "networkUrl",
        "privateEndpointSubnetwork",
        "project",
        "region",
        "router",
        "subnetwork",
    }
)
REFERENCE_PATHS = ("subnetworks.name", "nat64Subnetworks.name")
"""Properties that hold a reference, by their last part or whole. The schema says that a difference may be suppressed,
not why."""


class Property(TypedDict):
    """One line of what the plugin prints (``gomod/google-provider/traits.go``)."""

    path: str
    type: str
    input: bool
    computed: bool
    suppress: bool
    default: JsonValue


def printed() -> dict[str, list[Property]]:
    """The properties of every type. Raises ``SetUpFailed`` where the plugin is not built."""
    plugin = binaries.path("pulumi-resource-gcp")
    return json.loads(subprocess.run([plugin, "-traits"], capture_output=True, check=True, text=True).stdout)


def text(types: dict[str, list[Property]]) -> str:
    """``traits.json``: a line for each type."""
    lines = [f" {json.dumps(token)}: {json.dumps(found)}" for token in sorted(types) if (found := _of(types[token]))]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _of(properties: list[Property]) -> dict[str, JsonValue]:
    rows = sorted((one for one in properties if not one["path"].startswith(INLINE)), key=lambda one: one["path"])
    inputs = [one for one in rows if one["input"]]
    found: dict[str, JsonValue] = {
        "sets": [one["path"] for one in inputs if one["type"] == "set"],
        "kept": [one["path"] for one in inputs if one["computed"]],
        "links": [one["path"] for one in inputs if one["suppress"] and _is_reference(one["path"])],
        "defaults": {one["path"]: one["default"] for one in rows if one.get("default") not in (None, False, 0, "")},
    }
    return {key: value for key, value in found.items() if value}


def _is_reference(path: str) -> bool:
    return path.rpartition(".")[2] in REFERENCES or path in REFERENCE_PATHS


def main() -> int:
    """Writes the file."""
    Path(TRAITS).write_text(text(printed()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
