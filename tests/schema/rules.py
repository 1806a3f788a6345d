"""CEL rules of CRDs (``x-kubernetes-validations``), evaluated on objects.

https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
An error during evaluation counts as a broken rule, as in the API server.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import cast

import cel

from tests.schema.structural import Table, defaulted, table

RESERVED = frozenset(
    ["true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
     "let", "loop", "package", "namespace", "return", "var", "void", "while"]
)  # fmt: skip
"""Words that a field's name must not be in CEL: Kubernetes writes ``__namespace__`` for them."""


@cache
def _compiled(rule: str) -> cel.Program:
    return cel.compile(rule)


def _context(value: object) -> cel.Context:
    context = cel.Context({"self": escaped(value)})
    context.add_function("split", str.split)  # of Kubernetes' own string library
    return context


def escaped(value: object) -> object:
    """The value with reserved names as CEL sees them."""
    if isinstance(value, dict):
        return {f"__{key}__" if key in RESERVED else key: escaped(entry) for key, entry in cast("Table", value).items()}
    if isinstance(value, list):
        return [escaped(entry) for entry in cast("list[object]", value)]
    return value


def broken(value: Table, schema: Table) -> list[str]:
    """The rules an object breaks, in words. Empty for a valid object. Rules that need an older object are left out."""
    return list(_walk(defaulted(value, schema), schema, "$"))


def _walk(value: object, node: Table, path: str) -> Iterator[str]:
    for entry in cast("list[Table]", node.get("x-kubernetes-validations", [])):
        rule = str(entry["rule"])
        try:
            holds, error = "oldSelf" in rule or _compiled(rule).execute(_context(value)) is True, ""
        except (KeyError, RuntimeError, TypeError, ValueError) as problem:
            holds, error = False, f"({problem})"
        if not holds:
            yield f"{path}: {entry.get('message', '')} {error}"
    if isinstance(value, dict):
        properties, others = table(node.get("properties")), table(node.get("additionalProperties"))
        for key, inner in cast("Table", value).items():
            yield from _walk(inner, table(properties.get(key, others)), f"{path}.{key}")
    elif isinstance(value, list):
        for position, inner in enumerate(cast("list[object]", value)):
            yield from _walk(inner, table(node.get("items")), f"{path}[{position}]")
