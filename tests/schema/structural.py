"""Objects against structural schemas, as strictly as an API server with ``fieldValidation: Strict``.

Source of the semantics: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
(structural schemas, pruning, defaulting, ``x-kubernetes-*``).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, cast

from jsonschema import Draft202012Validator

Table = dict[str, object]


def table(value: object) -> Table:
    """The value as a table; an empty one for anything else."""
    return cast("Table", value) if isinstance(value, dict) else {}


def version_schema(crd: Table, api_version: str) -> Table:
    """The schema of one version of a CRD. Raises ``LookupError`` for a version that it does not serve."""
    spec = table(crd["spec"])
    group, _, version = api_version.rpartition("/")
    if group != spec["group"]:
        raise LookupError(f"group {group} is not {spec['group']}")
    for entry in cast("list[Table]", spec["versions"]):
        if entry["name"] == version and entry["served"]:
            return table(table(entry["schema"])["openAPIV3Schema"])
    raise LookupError(f"{spec['group']} does not serve {version}")


def json_schema(node: Table, *, root: bool = False, extra: frozenset[str] = frozenset(), path: str = "") -> Table:
    """A JSON Schema that also refuses what the API server would prune.

    ``extra`` holds paths (``spec.default``) below which unknown fields pass.
    """
    result: Table = {
        key: value
        for key, value in node.items()
        if not key.startswith("x-kubernetes-")
        and key not in {"default", "description", "format", "nullable", "example"}
    }
    if node.get("x-kubernetes-int-or-string"):
        result.pop("type", None)
        result["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    if node.get("format") == "int32":
        result.setdefault("minimum", -(2**31))
        result.setdefault("maximum", 2**31 - 1)
    properties = table(node.get("properties"))
    if properties or node.get("type") == "object":
        result["properties"] = {
            key: json_schema(table(value), extra=extra, path=f"{path}.{key}".strip("."))
            for key, value in properties.items()
        }
        if root or node.get("x-kubernetes-embedded-resource"):
            identity: Table = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}
            result["properties"] = {**table(result["properties"]), **identity, "metadata": {"type": "object"}}
        if isinstance(node.get("additionalProperties"), dict):
            result["additionalProperties"] = json_schema(table(node["additionalProperties"]), extra=extra, path=path)
        elif "additionalProperties" not in node:
            open_ = bool(node.get("x-kubernetes-preserve-unknown-fields")) or path in extra
            result["additionalProperties"] = open_
    if "items" in node:
        result["items"] = json_schema(table(node["items"]), extra=extra, path=path)
    if node.get("nullable") and "type" in result:
        result["type"] = [result["type"], "null"]
    return result


def defaulted(value: object, node: Table) -> object:
    """The value with the schema's defaults filled in, as the API server does before it validates."""
    if isinstance(value, dict):
        properties, others = table(node.get("properties")), node.get("additionalProperties")
        filled: Table = dict(cast("Table", value))
        for key, inner in properties.items():
            if key not in filled and "default" in table(inner):
                filled[key] = copy.deepcopy(table(inner)["default"])
        return {
            key: defaulted(entry, table(properties[key]) if key in properties else table(others))
            for key, entry in filled.items()
        }
    if isinstance(value, list):
        return [defaulted(entry, table(node.get("items"))) for entry in cast("list[object]", value)]
    return value


def list_errors(value: object, node: Table, path: str = "") -> Iterator[str]:
    """Lists that are sets or maps with the same entry or key twice."""
    if isinstance(value, dict):
        properties, others = table(node.get("properties")), table(node.get("additionalProperties"))
        for key, entry in cast("Table", value).items():
            yield from list_errors(entry, table(properties.get(key, others)), f"{path}.{key}")
    elif isinstance(value, list):
        entries = cast("list[object]", value)
        kind, keys = node.get("x-kubernetes-list-type"), cast("list[str]", node.get("x-kubernetes-list-map-keys", []))
        if kind in {"set", "map"}:
            seen = [str([table(entry).get(key) for key in keys]) if kind == "map" else str(entry) for entry in entries]
            for double in {one for one in seen if seen.count(one) > 1}:
                yield f"{path}: {double} is there twice"
        for position, entry in enumerate(entries):
            yield from list_errors(entry, table(node.get("items")), f"{path}[{position}]")


def errors(value: Table, schema: Table, extra: frozenset[str] = frozenset()) -> list[str]:
    """Everything the API server would refuse or prune, CEL rules aside. Empty for a valid object."""
    return judged(value, schema, Draft202012Validator(json_schema(schema, root=True, extra=extra)))


def judged(value: Table, schema: Table, validator: Draft202012Validator) -> list[str]:
    """The same with a validator of the schema that was made before."""
    full = defaulted(value, schema)
    result = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(cast("Any", full))]
    return [*result, *list_errors(full, schema)]
