"""``pulumi.com/waitFor``: read as the provider reads it, and answered at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import cast

from localcloud.providers.protocol.rules import ProviderRefusal
from localcloud.providers.protocol.values import JsonObject, text

WAIT_FOR = "pulumi.com/waitFor"
SKIP = "pulumi.com/skipAwait"

_CONDITION = re.compile(r"condition=[A-Za-z][A-Za-z0-9./-]*(=[A-Za-z]+)?")
_JSONPATH = re.compile(r"jsonpath=\{.+\}(=.+)?", re.DOTALL)  # jsonpath/jsonpath.go Parse: no shell quotes


def expressions(inputs: JsonObject) -> list[str]:
    """The expressions to wait for. Raises :class:`ProviderRefusal` for an annotation that the provider cannot read.

    ``metadata/overrides.go`` ReadyCondition: ``condition=…``, ``jsonpath=…`` or a JSON array of such.
    """
    if text(inputs, "metadata", "annotations", SKIP) == "true":
        return []
    value = text(inputs, "metadata", "annotations", WAIT_FOR)
    if not value:
        return []
    try:
        parsed: object = json.loads(value)
    except json.JSONDecodeError:
        parsed = value
    wanted = [str(item) for item in cast("list[object]", parsed)] if isinstance(parsed, list) else [value]
    if not wanted:
        raise ProviderRefusal("at least one condition must be specified")
    for expression in wanted:
        if not (_CONDITION.fullmatch(expression) or _JSONPATH.fullmatch(expression)):
            raise ProviderRefusal(f'expected a "jsonpath=" or "condition=" prefix, got {expression!r}')
    return wanted


def conditions(wanted: list[str]) -> Iterator[JsonObject]:
    """The status conditions that an answered wait implies."""
    for expression in wanted:
        if expression.startswith("condition="):
            _, sort, *status = expression.split("=")
            yield {"type": sort, "status": status[0] if status else "True", "reason": "Rehearsed"}
