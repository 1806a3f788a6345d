"""Finds the objects inside a registered resource, whatever way it took into the program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import yaml
from pulumi_policy.proxy import UnknownValueError

from llmd_gke.rules.inputs import UNKNOWN, Node, Value
from policies.rules.rule import Kind, Subject

BUNDLES = frozenset(
    f"kubernetes:yaml{version}:{kind}" for version in ("", "/v2") for kind in ("ConfigGroup", "ConfigFile")
)
"""Resources that may carry whole manifests in ``objs``, ``objects``, ``yaml`` or ``resources``."""

BUNDLE_FIELDS = ("objs", "objects", "yaml", "resources")


def tree(value: object) -> Value:
    """Inputs as plain values. What the SDK hands out are proxies: neither ``dict`` nor ``list``."""
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, object]", value)
        return {str(key): _entry(mapping, key) for key in mapping}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        items = cast("Sequence[object]", value)
        return [_entry(items, position) for position in range(len(items))]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(type(value).__name__)  # an asset or an archive: nothing a rule looks into


def _entry(container: Mapping[str, object] | Sequence[object], key: str | int) -> Value:
    try:
        return tree(container[key])  # pyright: ignore[reportArgumentType, reportCallIssue, reportUnknownArgumentType]
    except UnknownValueError:
        return UNKNOWN


def kind_of(type_: str) -> Kind | None:
    """The kind behind a type token: ``kubernetes:GROUP/VERSION:KIND``, ``gcp:MODULE:TYPE``; ``None`` for others."""
    package, _, rest = type_.partition(":")
    module, _, name = rest.rpartition(":")
    if package == "gcp":
        return Kind("gcp", rest)
    if package != "kubernetes" or not module:
        return None
    group, slash, _version = module.partition("/")
    # Core objects say `kubernetes:core/v1:Pod`, custom resources of a core kind `kubernetes:v1:Pod`.
    return Kind("" if group == "core" or not slash else group, name)


def subjects(type_: str, inputs: Value, *, urn: str = "", name: str = "", protect: bool = False) -> Iterator[Subject]:
    """The objects in a resource: itself, the target of a ``…Patch``, the items of a list, the parts of a bundle."""
    if type_ in BUNDLES:
        yield from _bundle(inputs, urn, name)
        return
    kind = _written_kind(inputs) or kind_of(type_)
    if kind is None:
        return
    kind, partial = _unpatched(kind, type_)
    if kind.group != "gcp" and kind.name.endswith("List") and isinstance(inputs, Mapping) and "items" in inputs:
        single = Kind(kind.group, kind.name.removesuffix("List"))
        for item in _items(inputs["items"]):
            yield Subject(_written_kind(item) or single, Node(item), urn, name)
        return
    yield Subject(kind, Node(inputs), urn, name, partial=partial, protect=protect)


def _items(value: Value) -> Sequence[Value]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _unpatched(kind: Kind, type_: str) -> tuple[Kind, bool]:
    patch = type_.startswith("kubernetes:") and type_.endswith("Patch")
    return (Kind(kind.group, kind.name.removesuffix("Patch")), True) if patch else (kind, False)


def _written_kind(inputs: Value) -> Kind | None:
    """The kind an object names itself."""
    if not isinstance(inputs, Mapping):
        return None
    version, kind = inputs.get("apiVersion"), inputs.get("kind")
    if not isinstance(version, str) or not isinstance(kind, str):
        return None
    group, slash, _ = version.partition("/")
    return Kind(group if slash else "", kind)


def _bundle(inputs: Value, urn: str, name: str) -> Iterator[Subject]:
    for field in BUNDLE_FIELDS:
        value = inputs.get(field) if isinstance(inputs, Mapping) else None
        parts = _items(value) or (value,)
        for part in parts:
            for item in _documents(part) if isinstance(part, str) else [part]:
                kind = _written_kind(item)
                if kind is not None:
                    yield Subject(kind, Node(item), urn, name)


def _documents(text: str) -> Iterator[Value]:
    try:
        yield from [tree(document) for document in yaml.safe_load_all(text)]
    except yaml.YAMLError:
        return  # a path, or text that the provider will refuse


def is_bundle(type_: str) -> bool:
    """Whether a resource of that type may carry objects of any kind."""
    return type_ in BUNDLES or (type_.startswith("kubernetes:") and type_.endswith("List"))
