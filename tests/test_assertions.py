"""Every test asserts something, and not only inside a loop that may have nothing to go through."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
Function = ast.FunctionDef | ast.AsyncFunctionDef

RAISING = frozenset({"raises", "warns", "fail", "assume"})
"""Functions that fail a test by themselves: pytest's, and Hypothesis' for an assumption that never holds."""

TRANSPARENT = frozenset({"enumerate", "sorted", "reversed", "zip", "items", "values", "range", "pairwise", "product"})
"""Functions and methods whose result is empty only if their arguments are."""

ELSEWHERE = {
    "test_what_holds_for_every_stack_holds_for_this_one": "calls tests of another file",
    "test_types_and_names_are_the_ones_that_stacks_remember": "calls a test of another file",
    "test_every_controller_runs_from_its_chart_as_its_own_service_account": "a constant of two levels",
}
"""Tests that assert although it cannot be seen here, and why."""


@cache
def trees() -> dict[Path, ast.Module]:
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted((ROOT / "tests").rglob("*.py"))}


def functions(tree: ast.AST) -> Iterator[Function]:
    yield from (node for node in ast.walk(tree) if isinstance(node, Function))


def called(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            yield inner.func.attr if isinstance(inner.func, ast.Attribute) else getattr(inner.func, "id", "")


def fails_by_itself(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Assert | ast.Raise) for inner in ast.walk(node)) or any(
        name in RAISING or name.startswith("assert_") for name in called(node)
    )


def helpers(*parsed: ast.Module) -> frozenset[str]:
    """Names of functions beside the tests that can fail one, by themselves or by way of another."""
    calls: dict[str, set[str]] = {}
    failing: set[str] = set()
    for function in (one for tree in parsed for one in functions(tree) if not one.name.startswith("test_")):
        calls.setdefault(function.name, set()).update(called(function))
        if fails_by_itself(function):
            failing.add(function.name)
    while more := {name for name, used in calls.items() if name not in failing and used & failing}:
        failing |= more
    return frozenset(failing)


def never_empty(node: ast.AST, constants: frozenset[str]) -> bool:
    """Whether the source shows that what is gone through has at least one element."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return any(not isinstance(part, ast.Starred) for part in parts)
        case ast.Dict(keys=keys):
            return any(key is not None for key in keys)
        case ast.Constant(value=value):
            return bool(value)
        case ast.Name(id=name):
            return name in constants
        case ast.Call(func=ast.Attribute(value=base, attr="items" | "values")):
            return never_empty(base, constants)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=arguments) if name in TRANSPARENT:
            return bool(arguments) and all(never_empty(one, constants) for one in arguments)
        case _:
            return False


def named_constants(body: Sequence[ast.AST]) -> frozenset[str]:
    """Names of values in a body that have elements as they are written."""
    names: set[str] = set()
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if never_empty(value, frozenset(names)):
                names.add(name)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.AST() as value) if never_empty(
                value, frozenset(names)
            ):
                names.add(name)
            case _:
                pass
    return frozenset(names)


def always_asserts(body: Sequence[ast.stmt], failing: frozenset[str], constants: frozenset[str]) -> bool:
    """Whether a statement outside of loops over possibly nothing can fail."""
    for statement in body:
        match statement:
            case ast.For(iter=through, body=inner) | ast.AsyncFor(iter=through, body=inner):
                if never_empty(through, constants) and always_asserts(inner, failing, constants):
                    return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                pass
            case ast.If(body=inner, orelse=other):
                if always_asserts([*inner, *other], failing, constants):
                    return True
            case ast.With(items=items, body=inner) | ast.AsyncWith(items=items, body=inner):
                if any(_fails(one.context_expr, failing) for one in items) or always_asserts(inner, failing, constants):
                    return True
            case ast.While(body=inner) | ast.Try(body=inner):
                if always_asserts(inner, failing, constants):
                    return True
            case ast.Assert(test=ast.Call(func=ast.Name(id="all"), args=[ast.GeneratorExp(generators=[first, *_])])):
                if never_empty(first.iter, constants):
                    return True
            case _:
                if _fails(statement, failing):
                    return True
    return False


def _fails(node: ast.AST, failing: frozenset[str]) -> bool:
    return fails_by_itself(node) or any(name in failing for name in called(node))


def vacuous(tree: ast.Module, failing: frozenset[str]) -> list[str]:
    """Names of the tests that can pass without having compared anything."""
    constants = named_constants(tree.body)
    return [
        test.name
        for test in functions(tree)
        if test.name.startswith("test_")
        and not always_asserts(test.body, failing, constants | named_constants(list(ast.walk(test))))
    ]


def test_every_test_compares_something() -> None:
    failing = helpers(*trees().values())
    tests = {file: tree for file, tree in trees().items() if file.name.startswith("test_")}
    assert len(tests) > 300
    names = {name for tree in tests.values() for name in vacuous(tree, failing)}
    assert names - ELSEWHERE.keys() == set()


@pytest.mark.parametrize(
    "body",
    [
        "run()",
        "for one in found(): assert one",
        "assert all(one for one in found())",
        "for one in (): assert one",
        "for one in [*found()]: assert one",
        "for key, one in zip(FIRST, found()): assert one",
    ],
)
def test_a_test_that_may_compare_nothing_is_seen(body: str) -> None:
    tree = ast.parse(f"FIRST = (1, 2)\ndef test_it():\n    {body}")
    assert vacuous(tree, helpers(tree)) == ["test_it"]


@pytest.mark.parametrize(
    "body",
    [
        "assert run()",
        "for one in (1, 2): assert one",
        "for one in sorted(FIRST): assert one",
        "for one in range(3): assert one",
        "assert all(one for one in FIRST)",
        "with pytest.raises(ValueError): run()",
        "check(run())",
        "mock.assert_called_once()",
    ],
)
def test_a_test_that_compares_something_passes(body: str) -> None:
    tree = ast.parse(f"FIRST = (1, 2)\ndef check(one):\n    assert one\ndef test_it():\n    {body}")
    assert vacuous(tree, helpers(tree)) == []
