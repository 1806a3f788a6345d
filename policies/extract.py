"""Finds the objects inside a registered resource, however the program created it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import yaml

from llmd_gke.rules.inputs import UNKNOWN, Input, SecretText, Unknown, Value, items_of, table_of
from policies.rules.kinds import CHART, CLUSTER, MANIFEST, NODE_POOL, RELEASE, Kind
from policies.rules.rule import Subject

if TYPE_CHECKING:
    Safe = yaml.SafeLoader
else:  # PyYAML may be built without libyaml
    Safe = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

BUNDLES = frozenset(
    f"kubernetes:yaml{version}:{kind}" for version in ("", "/v2") for kind in ("ConfigGroup", "ConfigFile")
)
"""Resources that may carry whole manifests in ``objs``, ``objects``, ``yaml`` or ``resources``."""

BUNDLE_FIELDS = ("objs", "objects", "yaml", "resources")

COMPONENTS = BUNDLES | {
    "kubernetes:helm.sh/v2:Chart",
    "kubernetes:helm.sh/v3:Chart",
    "kubernetes:helm.sh/v4:Chart",
    "kubernetes:kustomize:Directory",
    "kubernetes:kustomize/v2:Directory",
}
"""Types that represent several objects. A program may also register them as a plain resource: then the provider creates
the object described in it, as for every other type."""

OWN_SHAPE = re.compile(r"kubernetes:helm\.sh/v3:Release$|gcp:|pulumi:")
"""Types whose inputs are not a Kubernetes object: an ``apiVersion`` among them has no meaning."""

CRD_FIELDS = ("apiVersion", "kind", "metadata")
"""The fields of a CustomResourceDefinition that rules read. Its schema may have several megabytes."""

DOCUMENT = re.compile(r"^(?:---|\.\.\.)(?=\s|$)", re.MULTILINE)
LARGEST_DOCUMENT = 100_000
"""Values in one document of a bundle. Aliases count as often as they are used: a few lines can expand to billions."""


DEEPEST_DOCUMENT = 100


class TooLarge(ValueError):
    """A document with more values than :data:`LARGEST_DOCUMENT`, or deeper than :data:`DEEPEST_DOCUMENT`."""


class UnreadableDocument(dict[str, Value]):
    """A document that cannot be read. Its only entry, ``unreadable``, contains the location and the reason."""

    def __init__(self, why: str) -> None:
        super().__init__(unreadable=why)


class Loader(Safe):
    """Reads a value with a custom tag as the type that its text suggests, as the provider does.

    Uses libyaml if PyYAML was built with it: a chart's values may contain dashboards of half a megabyte.
    """


def _untagged(loader: Loader, _suffix: str, node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(cast("yaml.ScalarNode", node))


Loader.add_multi_constructor("", _untagged)  # pyright: ignore[reportUnknownMemberType]


def kind_of(type_: str) -> Kind | None:
    """The kind behind a type token: ``kubernetes:GROUP/VERSION:KIND``, ``gcp:MODULE:TYPE``; ``None`` for others."""
    package, _, rest = type_.partition(":")
    module, _, name = rest.rpartition(":")
    if package == "gcp":
        return Kind("gcp", rest)
    if package != "kubernetes" or not module:
        return None
    group, slash, _version = module.partition("/")
    # Core objects have `kubernetes:core/v1:Pod`, custom resources of a core kind `kubernetes:v1:Pod`.
    return Kind("" if group == "core" or not slash else group, name)


def kind_in(type_: str, inputs: Value) -> Kind | None:
    """The kind of the object that the provider creates: the one written in the object, otherwise the type token's.

    The Kubernetes provider only considers the object, not the token.
    """
    written = None if OWN_SHAPE.match(type_) or type_ in COMPONENTS else _written_kind(inputs)
    return written or kind_of(type_)


def subjects(
    type_: str, inputs: Value, *, urn: str = "", name: str = "", protect: bool | None = False
) -> Iterator[Subject]:
    """The objects in a resource: itself, the target of a ``…Patch``, the items of a list, the parts of a bundle."""
    if type_ in BUNDLES:
        for kind, value in _bundle(inputs):
            yield Subject(kind, Input(value), urn, name)
    if type_ in COMPONENTS and (written := _written_kind(inputs)) is not None:
        for kind, value in _unpacked(written, inputs):
            yield Subject(kind, Input(value), urn, name)
    if type_ in BUNDLES:
        return
    kind = kind_in(type_, inputs)
    if kind is None:
        return
    kind, partial = _unpatched(kind, type_)
    if kind in (RELEASE, CHART):
        inputs, unread = _with_files(inputs)
        for document in unread:
            yield Subject(MANIFEST, Input(document), urn, name)
        for single, value in _objects_in_texts(inputs):
            yield Subject(single, Input(value), urn, name)
    items = [*_unpacked(kind, inputs)]
    if len(items) != 1 or items[0][1] is not inputs:
        for single, value in items:
            yield Subject(single, Input(value), urn, name, partial=partial)
        return
    yield Subject(kind, Input(inputs), urn, name, partial=partial, protect=protect)
    if kind == CLUSTER and isinstance(inputs, Mapping):
        for value in _pools_within(inputs):
            yield Subject(NODE_POOL, Input(value), urn, name, inline=True)


def _pools_within(cluster: Mapping[str, Value]) -> Iterator[Value]:
    locations = {key: cluster[key] for key in ("location", "nodeLocations") if key in cluster}
    for pool in items_of(cluster.get("nodePools")):
        if isinstance(pool, Mapping):
            yield {**locations, **{key: value for key, value in pool.items() if value is not None}}
        else:
            yield pool
    if cluster.get("nodeConfig") is not None and cluster.get("removeDefaultNodePool") is not True:
        yield {**locations, "nodeConfig": cluster["nodeConfig"]}


def _unpacked(kind: Kind, value: Value) -> Iterator[tuple[Kind, Value]]:
    """The object and those that it contains, or the objects of a list, which may be lists themselves.

    To the provider every object with ``items`` is a list, whatever its kind.
    """
    if kind.group == "gcp" or not isinstance(value, Mapping):
        yield kind, value
        return
    if not _is_list(kind, value):
        inner: list[Value] = []
        yield kind, _without_objects(value, inner)
        for item in inner:
            if (written := _written_kind(item)) is not None:
                yield from _unpacked(written, item)
        return
    single = Kind(kind.group, kind.name.removesuffix("List"))
    for item in items_of(value["items"]):
        yield from _unpacked(_written_kind(item) or single, item)


def _without_objects(value: Value, taken: list[Value], *, root: bool = True) -> Value:
    """A value without the whole objects inside it (Crossplane's, Open Cluster Management's), which go to ``taken``.

    A value without any is returned unchanged.
    """
    if not root and isinstance(value, Mapping) and _is_object(value):
        taken.append(value)
        return None
    if isinstance(value, Mapping):
        table = {key: _without_objects(item, taken, root=False) for key, item in value.items()}
        return table if any(table[key] is not item for key, item in value.items()) else value
    if entries := items_of(value):
        remaining = [_without_objects(item, taken, root=False) for item in entries]
        return remaining if any(new is not old for new, old in zip(remaining, entries, strict=True)) else value
    return value


def _is_object(value: Mapping[str, Value]) -> bool:
    """Whether a map is a whole object rather than a reference to one."""
    return _written_kind(value) is not None and isinstance(value.get("metadata"), Mapping)


def _with_files(inputs: Value) -> tuple[Value, Sequence[UnreadableDocument]]:
    """The inputs of a chart with the texts of ``valueYamlFiles`` in ``values``, which go before them.

    Also the documents of those texts that cannot be read.
    """
    if not isinstance(inputs, Mapping) or not (files := items_of(inputs.get("valueYamlFiles"))):
        return inputs, ()
    merged: Value = {}
    unread: list[UnreadableDocument] = []
    for text in files:
        for document in documents(text, "valueYamlFiles") if isinstance(text, str) else ():
            if isinstance(document, UnreadableDocument):
                unread.append(document)
            elif isinstance(document, Mapping):
                merged = _merged(merged, document)
    return {**inputs, "values": _merged(merged, inputs.get("values"))}, unread


def _merged(below: Value, above: Value) -> Value:
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        return {**below, **{key: _merged(below.get(key), item) for key, item in above.items()}}
    return below if above is None else above


def _objects_in_texts(inputs: Value) -> Iterator[tuple[Kind, Value]]:
    waiting = [table_of(inputs).get("values")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, str):
            for document in documents(value, "values") if "apiVersion" in value else ():
                if isinstance(document, UnreadableDocument):
                    yield MANIFEST, document
                elif (written := _written_kind(document)) is not None:
                    yield from _unpacked(written, document)
        else:
            waiting += items_of(value)


def _is_list(kind: Kind, value: Mapping[str, Value]) -> bool:
    if "items" not in value:
        return False
    return kind.name.endswith("List") or any(_written_kind(item) is not None for item in items_of(value["items"]))


def _unpatched(kind: Kind, type_: str) -> tuple[Kind, bool]:
    patch = type_.startswith("kubernetes:") and type_.endswith("Patch")
    return (Kind(kind.group, kind.name.removesuffix("Patch")), True) if patch else (kind, False)


def _written_kind(inputs: Value) -> Kind | None:
    if not isinstance(inputs, Mapping):
        return None
    version, kind = inputs.get("apiVersion"), inputs.get("kind")
    if not isinstance(version, str) or not isinstance(kind, str):
        return None
    group, slash, _ = version.partition("/")
    return Kind(str(group) if slash else "", str(kind))


def _bundle(inputs: Value) -> Iterator[tuple[Kind, Value]]:
    for field in BUNDLE_FIELDS:
        value = table_of(inputs).get(field)
        if value is None:
            continue
        for position, part in enumerate(items_of(value) or (value,)):
            path = f"{field}[{position}]" if items_of(value) else field
            for item in documents(part, path) if isinstance(part, str) else _flat(part):
                kind = _written_kind(item)
                if isinstance(item, UnreadableDocument):
                    yield MANIFEST, item
                elif isinstance(item, Unknown):
                    yield MANIFEST, {"text": item}
                elif kind is not None:
                    yield from _unpacked(kind, item)
                elif isinstance(item, Mapping) and any(
                    isinstance(item.get(key), Unknown) for key in ("apiVersion", "kind")
                ):
                    yield MANIFEST, {"text": UNKNOWN}


def _flat(value: Value) -> Iterator[Value]:
    """The objects of a list and of the lists in it; any other value itself."""
    if entries := items_of(value):
        for item in entries:
            yield from _flat(item)
    else:
        yield value


def documents(text: str, path: str) -> Iterator[Value]:
    """The documents of a text. An unreadable one becomes an :class:`UnreadableDocument`, and hides no others."""
    for number, document in enumerate(DOCUMENT.split(text), 1):
        where = f"document {number} of {path}"
        try:
            _check_depth(document)
            content = cast("object", yaml.load(document, Loader))  # noqa: S506 - a SafeLoader
            yield plain(content, secret=isinstance(text, SecretText))
        except TooLarge:
            yield UnreadableDocument(f"{where} expands to more than {LARGEST_DOCUMENT} values, or is nested too deeply")
        except (yaml.YAMLError, ValueError, RecursionError):
            yield from _json(document, where, secret=isinstance(text, SecretText))


def _check_depth(document: str) -> None:
    """Raises :class:`TooLarge` for a document so deep that libyaml's recursive reader would crash."""
    depth = 0
    for event in yaml.parse(document, Safe):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST_DOCUMENT:
            raise TooLarge


def _json(text: str, where: str, *, secret: bool) -> Iterator[Value]:
    """Reads JSON that the YAML reader rejects: indented by tabs, or several objects in sequence."""
    decoder, documents, rest = json.JSONDecoder(), list[Value](), text.strip()
    try:
        while rest:
            content, end = cast("tuple[object, int]", decoder.raw_decode(rest))
            documents.append(plain(content, secret=secret))
            rest = rest[end:].lstrip()
    except (ValueError, RecursionError):
        documents.append(UnreadableDocument(f"{where} cannot be read as YAML"))
    yield from documents


def plain(value: object, *, secret: bool = False, most: int = LARGEST_DOCUMENT) -> Value:
    """Converts what a YAML reader returns to plain values. Raises :class:`TooLarge` for more than ``most``."""
    left = most

    def convert(part: object, depth: int = 0) -> Value:
        nonlocal left
        left -= 1
        if left < 0 or depth > DEEPEST_DOCUMENT:
            raise TooLarge
        if isinstance(part, Mapping):
            return {str(key): convert(item, depth + 1) for key, item in cast("Mapping[object, object]", part).items()}
        if isinstance(part, Sequence) and not isinstance(part, str | bytes):
            return [convert(item, depth + 1) for item in cast("Sequence[object]", part)]
        if isinstance(part, bytes):  # !!binary
            part = part.decode("utf-8", "replace")
        if isinstance(part, float) and part.is_integer():
            return int(part)
        if part is None or isinstance(part, bool | int | float):
            return part
        text = part if isinstance(part, str) else str(part)
        return SecretText(text) if secret else text

    return convert(value)
