"""Pydantic's errors in terms of a stack file: the problem, what is allowed, the fix."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import cast, get_args

from pydantic_core import ErrorDetails

from llmd_gke.catalog.zones import Capacity
from llmd_gke.settings.sections.formats import BILLING_ACCOUNT, FORMATS, NO_SPACES
from llmd_gke.wording import nearest

Explanation = tuple[str, str, str]
"""Problem, what is allowed, fix."""

_SHAPES: Mapping[str, Explanation] = {
    "int_type": ("this must be a whole number", "", "write a number, without quotes"),
    "int_from_float": ("this must be a whole number", "", "write a number without a fraction"),
    "float_type": ("this must be a number", "", "write a number, without quotes"),
    "finite_number": ("this must be a number", "", "write a number, without quotes"),
    "bool_type": ("this must be true or false", "true, false", "write true or false, without quotes"),
    "string_type": ("this must be a string", "", "put it in quotes"),
    "tuple_type": ("this must be a list", "", "start each entry on a new line with `- `"),
    "dict_type": ("this must be a map", "", "one `name: value` per line"),
    "too_short": ("this list is empty", "at least one entry", "add an entry, see Pulumi.eu4a.yaml"),
}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least {}"),
    "greater_than": ("gt", "more than {}"),
    "less_than_equal": ("le", "at most {}"),
    "less_than": ("lt", "less than {}"),
}
_NUMBER_OF_A_PROJECT = "gcloud projects describe {} --format 'value(projectId)' prints the project ID; set that"


def explain(detail: ErrorDetails) -> Explanation:
    """The explanation of pydantic's error about a value."""
    kind, value = detail["type"], detail["input"]
    path = [str(step) for step in detail["loc"] if not isinstance(step, int)]
    context = cast("Mapping[str, object]", detail.get("ctx", {}))
    if value is None and kind.endswith("_type"):
        return "this has no value", "", f"give {detail['loc'][-1]} a value, or remove the line"
    if kind in _BOUNDS:
        name, allowed = _BOUNDS[kind]
        bound = context.get(name)
        fix = f"for example {bound}" if kind.endswith("equal") else f"a number {allowed.format(bound)}"
        if path[-1] == "replicas" and value == 0:
            fix = "to keep the model without a server, set stopped: true"
        if path[-1] == "minReplicas" and value == 0:
            return (
                "nothing would wake the model: without pods the endpoint picker's metrics keep their last value, and "
                "clients give up long before a TPU host has started",
                "at least 1; 0 while idle, or outside of the hours of a schedule",
                "minReplicas: 1 with scaling: {idleAfterSeconds: 7200}; for hours without servers schedule: {timeZone: "
                "..., hours: [...]}, or `llmd-gke stop` and `llmd-gke start`",
            )
        return "this number is out of range", allowed.format(bound), fix
    if kind == "literal_error":
        return _choice(path[-1], value, str(context.get("expected", "")))
    if kind == "string_pattern_mismatch":
        return _format(str(context.get("pattern", "")), str(value))
    problem, allowed, fix = _SHAPES.get(kind, (detail["msg"].removeprefix("Value error, "), "", ""))
    return problem, allowed, _hint(path, kind, value) or fix


def _format(pattern: str, value: str) -> Explanation:
    accepted = FORMATS[pattern]
    if pattern == NO_SPACES:
        return "this value contains a space", accepted.allowed, accepted.fix
    if pattern == BILLING_ACCOUNT:
        is_only_lower = re.fullmatch(pattern, value.upper()) is not None
        fix = f"billingAccount: {value.upper()}" if is_only_lower else accepted.fix
        return "this is not the ID of a billing account", accepted.allowed, fix
    return "this value has the wrong format", accepted.allowed, accepted.fix


def capacity_entry(value: object) -> str:
    """The fix for an entry of a list of capacities that is not a map, such as a word."""
    kinds = get_args(Capacity)
    return f"- kind: {nearest(str(value).lower(), kinds) or kinds[0]}"


def _choice(key: str, value: object, expected: str) -> Explanation:
    choices = re.findall(r"'([^']*)'", expected)
    near = next((one for one in choices if one.lower() == str(value).lower()), None) or nearest(str(value), choices)
    fix = f"{key}: {near}" if near else f"use one of them, for example {key}: {choices[0]}" if choices else ""
    return "this is not one of the allowed values", ", ".join(choices), fix


def _hint(path: list[str], kind: str, value: object) -> str:
    """The fix for values to which YAML gives another type than intended, such as numbers and booleans."""
    if kind == "string_type" and path == ["project"] and isinstance(value, int) and not isinstance(value, bool):
        return _NUMBER_OF_A_PROJECT.format(value)
    if kind == "string_type" and isinstance(value, bool | int | float):
        return f"put it in quotes: '{value}'"
    if kind == "int_type" and isinstance(value, float):
        return "write a number without a fraction"
    if kind in {"int_type", "float_type", "bool_type"} and isinstance(value, str):
        return _meant(kind, value)
    return ""


_WORDS = {**dict.fromkeys(("true", "yes", "on", "y"), "true"), **dict.fromkeys(("false", "no", "off", "n"), "false")}
"""What people write for a boolean; Pulumi reads all but the first of each as text."""


def _meant(kind: str, text: str) -> str:
    """The fix for a text where a number or a boolean belongs: in quotes, in full-width digits, or grouped (``5,000``);
    empty if it is neither.
    """
    plain = unicodedata.normalize("NFKC", text).strip().lower()
    if kind == "bool_type":
        meant = _WORDS.get(plain, "")
    else:
        meant = re.sub(r"(?<=\d)[,_' ](?=\d{3}(\D|$))", "", plain)
        pattern = r"-?(0|[1-9]\d*)" + (r"(\.\d+)?" if kind == "float_type" else "")
        meant = meant if re.fullmatch(pattern, meant, re.ASCII) else ""
    return meant and (f"write {meant} without quotes" if meant == text else f"write {meant}")
