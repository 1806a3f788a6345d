"""Each rule through the pack's server: its own examples, unknown values, other types, malformed objects, secrets."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from policies.groups import ALL
from policies.pack import Analyzer
from policies.rules.example_files import Example
from policies.rules.kinds import ANY_POLICY, ANY_WORKLOAD, MANIFEST, Kind
from policies.rules.routes.routes import ROUTE_TIMEOUTS
from policies.rules.rule import Rule
from tests.policies.conftest import InStack
from tests.policies.support import UNKNOWN, Diagnostic, Resource, of, replaced, resources, run_pack, secret

NOT_CHECKED = "can't run policy"
LEVEL = {"mandatory": "MANDATORY", "advisory": "ADVISORY"}


def violations(diagnostics: list[Diagnostic], rule: Rule, stack: str = "dev") -> list[Diagnostic]:
    level = LEVEL.get(rule.level) or ("MANDATORY" if stack.startswith("prod") else "ADVISORY")
    return [one for one in of(diagnostics, rule.name, level) if NOT_CHECKED not in one.text]


def with_last(example: Example, path: str, value: object) -> list[Resource]:
    *others, last = resources(example)
    return [*others, dataclasses.replace(last, inputs=replaced(last.inputs, path, value))]


def wrong_shape(rule: Rule) -> list[Resource]:
    """The bad example with its decisive part in a shape it must not have: text for a map or list, a map for text."""
    last = resources(rule.examples.refused[0])[-1]
    top = re.split(r"[.\[]", rule.examples.refused[0].deciding_field.removeprefix("properties."))[0]
    is_scalar = top == rule.examples.refused[0].deciding_field.removeprefix("properties.") and not isinstance(
        last.inputs.get(top), Mapping | list | None
    )
    if top == "removeDefaultNodePool" or is_scalar:  # its bad example leaves the field out, so that its type is unknown
        return with_last(rule.examples.refused[0], top, {"no": "map"})
    return with_last(rule.examples.refused[0], top, "a text")


def judged(rule: Rule, program: list[Resource]) -> list[Diagnostic]:
    return run_pack(program, Analyzer([rule]))


def test_a_violation_is_reported_with_its_reason(in_stack: InStack) -> None:
    for rule in ALL:
        assert rule.examples.refused
        for example in rule.examples.refused:
            in_stack(example.stack)
            result = violations(judged(rule, resources(example)), rule, example.stack)
            assert result, (rule.name, example.objects)
            assert all("this rule failed" not in one.text for one in result), result
            assert all(len(one.text) > len(rule.title) + 40 for one in result)


def test_what_complies_is_left_alone(in_stack: InStack) -> None:
    for rule in ALL:
        assert rule.examples.accepted
        for example in rule.examples.accepted:
            in_stack(example.stack)
            assert judged(rule, resources(example)) == [], (rule.name, example.objects)


BY_SHAPE = {ANY_WORKLOAD, ANY_POLICY}
SECRET = Kind("", "Secret")
READS_NO_INPUTS = {"production-stacks", "service-account-key"}
"""Rules that go by the kind of a resource or its options alone."""

SEARCHES = {"public-iam-member", "basic-iam-role", "privileged-pod"}
"""Rules that search an object for what they refuse: no shape is wrong."""


def test_an_unknown_value_that_decides_is_said_and_does_not_fail_the_preview(in_stack: InStack) -> None:
    for rule in ALL:
        example = rule.examples.refused[0]
        in_stack(example.stack)
        if rule.name in READS_NO_INPUTS:
            assert not example.deciding_field
            continue
        assert example.deciding_field, f"{rule.name}: every rule names a field that decides"
        diagnostics = judged(rule, with_last(example, example.deciding_field, UNKNOWN))
        if rule.name == "public-iam-member":
            # An account of another resource: on a first preview every program has some.
            assert diagnostics == []
            continue
        assert any(NOT_CHECKED in one.text for one in diagnostics), (rule.name, diagnostics)
        assert of(diagnostics, rule.name, "MANDATORY") == []


def test_objects_of_other_kinds_are_not_judged(in_stack: InStack) -> None:
    for rule in ALL:
        in_stack(rule.examples.refused[0].stack)
        others = [
            Resource(
                "kubernetes:example.com/v1:Other",
                resource.name,
                {**resource.inputs, "apiVersion": "example.com/v1", "kind": "Other"},
            )
            for resource in resources(rule.examples.refused[0])
            if not resource.type.startswith("kubernetes:yaml")
        ]
        assert bool(judged(rule, others)) is bool(BY_SHAPE & set(rule.kinds)), rule.name


def test_a_malformed_object_is_a_violation_and_hides_no_other_rule(in_stack: InStack) -> None:
    bystander = resources(ROUTE_TIMEOUTS.examples.refused[0])
    for rule in ALL:
        if rule.name in READS_NO_INPUTS | SEARCHES or MANIFEST in rule.kinds:
            continue
        in_stack(rule.examples.refused[0].stack)
        malformed = [dataclasses.replace(one, name=f"malformed-{one.name}") for one in wrong_shape(rule)]
        diagnostics = run_pack([*malformed, *bystander], Analyzer([rule, ROUTE_TIMEOUTS]))
        assert any(" but must be " in one.text for one in violations(diagnostics, rule)), of(diagnostics, rule.name)
        assert not any("this rule failed" in one.text for one in diagnostics)
        assert of(diagnostics, "route-timeouts", "MANDATORY")


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, str):
        yield value


def _all_secret(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _all_secret(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_all_secret(item) for item in value]
    return secret(value) if isinstance(value, str) else value


def test_no_value_marked_as_secret_is_repeated(in_stack: InStack) -> None:
    for rule in ALL:
        if SECRET in rule.kinds:
            continue  # what it asks for is that values are marked so
        for example in rule.examples.refused:
            in_stack(example.stack)
            objects = [
                {key: value for key, value in one.inputs.items() if key not in ("apiVersion", "kind")}
                for one in resources(example)
            ]
            program = [
                dataclasses.replace(one, inputs={**one.inputs, **_all_secret(fields)})
                for one, fields in zip(resources(example), objects, strict=True)
            ]
            diagnostics = judged(rule, program)
            assert violations(diagnostics, rule, example.stack), f"{rule.name} judges secret values, too"
            said = " ".join(one.text for one in diagnostics)
            hidden = {text for text in _leaves(objects) if len(text) >= 4 and text != "secret"}
            assert [text for text in hidden if text in said] == [], rule.name
