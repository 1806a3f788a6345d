"""Makes ``traits.json`` of the real schema: ``python -m localcloud.providers.google.generate_traits``.

The published provider, built by ``python -m localcloud programs pulumi-resource-gcp``, prints its schema. Which values
it allows is not in the schema but in its code: it is given one that nothing allows, and its answer says what is.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import TypedDict

from localcloud import binaries
from localcloud.product import versions
from localcloud.providers.google import published
from localcloud.providers.google.schema import TABLE, TRAITS, Table
from localcloud.providers.protocol.values import JsonObject, JsonValue

MODULE = "github.com/hashicorp/terraform-provider-google"
RELEASE = "7.39.0"
"""The release that is tagged at the pinned commit."""

INLINE = "nodePools."
"""Prefix of properties that are left out: node pools defined inside a cluster, which the program does not use."""

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
not why: these three lists do, and ``tests/published_provider/test_plans.py`` compares what follows from them."""

NAMES = frozenset({"managedZone", "region", "router"})
"""References that the state stores as a bare name."""

CASELESS = frozenset({"format", "member"})
UPPER = {"gcp:storage/bucket:Bucket": ["location"]}
"""What upstream turns into upper case before it compares (``StateFunc``), which the schema does not say at all."""


UNORDERED = {"gcp:compute/regionSecurityPolicy:RegionSecurityPolicy": ["rules"]}
"""Lists of which upstream suppresses a difference in order only, which the schema does not say
(``resourceComputeRegionSecurityPolicySpecRulesDiffSuppress``)."""


class Property(TypedDict):
    """One line of what the plugin prints (``gomod/google-provider/traits.go``)."""

    path: str
    type: str
    input: bool
    computed: bool
    forceNew: bool
    secret: bool
    suppress: bool
    validated: bool
    default: JsonValue


Types = dict[str, list[Property]]


def printed() -> Types:
    """The properties of every type. Raises ``SetUpFailed`` where the plugin is not built."""
    plugin = binaries.path(published.PLUGIN)
    return json.loads(subprocess.run([plugin, "-traits"], capture_output=True, check=True, text=True).stdout)


def content(types: Types) -> str:
    """``traits.json``: where its facts are from, and a line for each type. Starts the plugin."""
    source = {
        "provider": "hashicorp/terraform-provider-google (GA)",
        "version": RELEASE,
        "module": f"{MODULE} {versions.program(MODULE)}",
        "sdk": f"pulumi-gcp {versions.program(published.PLUGIN)}",
    }
    with published.running() as plugin:
        lines = [
            f"  {json.dumps(token)}: {json.dumps(of_type(plugin, token, types[token]))}" for token in sorted(types)
        ]
    return f'{{\n "source": {json.dumps(source)},\n "types": {{\n' + ",\n".join(lines) + "\n }\n}\n"


def of_type(plugin: published.Published, token: str, properties: list[Property]) -> JsonObject:
    """The facts about one type, from the schema and from the provider's answers; empty tables are left out."""
    rows = sorted((one for one in properties if not one["path"].startswith(INLINE)), key=lambda one: one["path"])
    inputs = [one for one in rows if one["input"]]
    sdk = dict(of_sdk(token))
    facts: JsonObject = {
        "forceNew": [one["path"] for one in inputs if one["forceNew"]],
        "sets": [*(one["path"] for one in inputs if one["type"] == "set"), *UNORDERED.get(token, [])],
        "kept": [one["path"] for one in inputs if one["computed"]],
        "links": [one["path"] for one in inputs if one["suppress"] and _is_reference(one["path"])],
        "names": [one["path"] for one in inputs if one["suppress"] and one["path"] in NAMES],
        "caseless": [
            *(one["path"] for one in inputs if one["suppress"] and one["path"] in CASELESS),
            *UPPER.get(token, []),
        ],
        "suppressed": [
            one["path"]
            for one in inputs
            if one["suppress"] and not _is_explained(one["path"]) and one["path"] not in UNORDERED.get(token, [])
        ],
        "secrets": [one["path"] for one in rows if one["secret"]],
        "defaults": {one["path"]: one["default"] for one in rows if one.get("default") not in (None, False, 0, "")},
        **_values(plugin, token, [one for one in inputs if one["validated"] and one["path"] in sdk]),
        **_differences(sdk, inputs, frozenset(one["path"] for one in rows)),
    }
    return {key: value for key, value in facts.items() if value}


def _is_reference(path: str) -> bool:
    return path.rpartition(".")[2] in REFERENCES or path in REFERENCE_PATHS


def _is_explained(path: str) -> bool:
    return _is_reference(path) or path in CASELESS


# -- which values are allowed --------------------------------------------------------------------------------------

_WRONG: Mapping[str, JsonValue] = {"string": "?!", "int": -7, "float": -7.5}
"""Values that no rule allows, by the schema's type. The provider's answer names what it allows."""
_ONE_OF = re.compile(r"^expected \S+ to be one of \[(.*)\], got ")
_RANGE = re.compile(r"^expected \S+ to be in the range \(([-\d.]+) - ([-\d.]+)\), got ")
_LEAST = re.compile(r"^expected \S+ to be at least \((-?\d+)\), got ")
_PATTERN = re.compile(r"""^"\S+" \("\?!"\) (?:doesn't match regexp|must match regex) (".*")\. Examine values at """)


def _values(plugin: published.Published, token: str, properties: list[Property]) -> JsonObject:
    """``allowed``, ``bounds`` and ``patterns`` by path; ``checked`` lists what is judged in a way of its own."""
    allowed, bounds, patterns = dict[str, JsonValue](), dict[str, JsonValue](), dict[str, JsonValue]()
    checked: list[JsonValue] = []
    for one in properties:
        path = one["path"]
        wrong = _WRONG.get(one["type"])
        answers = plugin.check(token, _holding(token, path, wrong))[1] if wrong is not None else []
        for answer in answers:
            if match := _ONE_OF.match(answer):
                allowed[path] = [*re.findall(r'"([^"]*)"', match[1])]
            elif match := _RANGE.match(answer):
                bounds[path] = [float(match[1]), float(match[2])]
            elif match := _LEAST.match(answer):
                bounds[path] = [int(match[1]), None]
            elif match := _PATTERN.match(answer):
                patterns[path] = json.loads(match[1])
            else:
                continue
            break
        else:
            checked.append(path)
    return {"allowed": allowed, "bounds": bounds, "patterns": patterns, "checked": checked}


def _sdk() -> Table:
    return json.loads(TABLE.read_text())


def _holding(token: str, path: str, value: JsonValue) -> JsonObject:
    """Inputs of a type in which nothing but that property is given."""
    table = _sdk()

    def wrap(shape: str, parts: list[str]) -> JsonObject:
        kind = table["shapes"][shape][parts[0]].lstrip("!")
        inner = wrap(kind.lstrip("[@"), parts[1:]) if parts[1:] else value
        return {parts[0]: [inner] if kind.startswith("[") else inner}

    return wrap(table["types"][token], path.split("."))


# -- what the official plugin has that this one has not, and vice versa -----------------------------------

_SCALARS = {"bool": "boolean", "int": "integer", "float": "number", "string": "string"}


def of_sdk(token: str) -> Iterator[tuple[str, str]]:
    """Inputs of a type that the SDK of the official plugin has, with their types, by path."""
    table = _sdk()

    def walk(shape: str, above: str) -> Iterator[tuple[str, str]]:
        for name, kind in table["shapes"][shape].items():
            yield above + name, kind.lstrip("!")
            inner = kind.lstrip("![")
            if inner.startswith("@") and not f"{above}{name}.".startswith(INLINE):
                yield from walk(inner[1:], f"{above}{name}.")

    yield from walk(table["types"][token], "")


def _differences(sdk: dict[str, str], inputs: list[Property], paths: frozenset[str]) -> JsonObject:
    """Properties that only the official or only the built plugin has; of a block that one lacks, only the block."""
    ours = {one["path"]: one["type"] for one in inputs}
    official = [path for path in sdk if path not in paths and path.rpartition(".")[0] in {"", *paths}]
    types = {
        path: [kind, sdk[path]]
        for path, kind in ours.items()
        if kind in _SCALARS and path in sdk and sdk[path] != _SCALARS[kind]
    }
    return {
        "onlyOfficial": [*sorted(official)],
        "onlyHere": [*sorted(path for path in ours if path not in sdk)],
        "otherType": {path: [*both] for path, both in sorted(types.items())},
    }


def main() -> int:
    """Writes the file."""
    TRAITS.write_text(content(printed()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
