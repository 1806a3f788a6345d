"""CEL rules of CRDs (``x-kubernetes-validations``), evaluated on objects.

https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
An error during evaluation counts as a broken rule, as in the API server.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import cast

import cel

from tests.schema.structural import Table, defaulted, table

RESERVED = frozenset(
    [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)
"""Words that a field's name must not be in CEL: Kubernetes writes ``__namespace__`` for them."""


@dataclass(frozen=True)
class Verdict:
    """One rule on one value: ``holds``, or why not; ``judged`` is False for rules that need an older object."""

    path: str
    rule: str
    message: str
    holds: bool = True
    judged: bool = True
    error: str = ""


@cache
def _compiled(rule: str) -> cel.Program:
    return cel.compile(rule)


def escaped(value: object) -> object:
    """The value with reserved names as CEL sees them."""
    if isinstance(value, dict):
        return {f"__{key}__" if key in RESERVED else key: escaped(entry) for key, entry in cast("Table", value).items()}
    if isinstance(value, list):
        return [escaped(entry) for entry in cast("list[object]", value)]
    return value


def verdicts(value: Table, schema: Table) -> list[Verdict]:
    """Every rule of the schema that applies somewhere in the object."""
    return list(_walk(defaulted(value, schema), schema, "$"))


def broken(value: Table, schema: Table) -> list[str]:
    """The rules an object breaks, in words. Empty for a valid object."""
    return [f"{one.path}: {one.message} {one.error}" for one in verdicts(value, schema) if not one.holds]


def _walk(value: object, node: Table, path: str) -> Iterator[Verdict]:
    for entry in cast("list[Table]", node.get("x-kubernetes-validations", [])):
        yield _verdict(value, str(entry["rule"]), str(entry.get("message", "")), path)
    if isinstance(value, dict):
        properties, others = table(node.get("properties")), table(node.get("additionalProperties"))
        for key, inner in cast("Table", value).items():
            yield from _walk(inner, table(properties.get(key, others)), f"{path}.{key}")
    elif isinstance(value, list):
        for position, inner in enumerate(cast("list[object]", value)):
            yield from _walk(inner, table(node.get("items")), f"{path}[{position}]")


def _verdict(value: object, rule: str, message: str, path: str) -> Verdict:
    if "oldSelf" in rule:
        return Verdict(path, rule, message, judged=False)
    try:
        return Verdict(path, rule, message, holds=_compiled(rule).execute({"self": escaped(value)}) is True)
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        return Verdict(path, rule, message, holds=False, error=f"({error})")
