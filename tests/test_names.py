"""Names say what a value is. Some words fit any value, and so say nothing: they name nothing in this repository."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("benchmarks", "components", "examples", "llmd_gke", "localcloud", "operations", "policies", "tests")

EMPTY = frozenset({"found", "known", "place", "said", "told", "words"})
"""Names that fit any value, in any case, with or without underscores around them."""

FORMER = frozenset(
    {"ahead", "beyond", "blind", "knobs", "judge", "last_words", "located", "misshapen", "obstacle", "of_class",
     "opaque", "places", "room", "rooms", "set_aside", "surroundings", "undecided", "unheard", "unsure", "world"}
)  # fmt: skip
"""Names that stood for terms of the field, such as a capacity, a work directory, a cluster's state, or uncertainty.

``located`` was a finding about a setting, ``of_class`` a GatewayClass, ``obstacle`` why a pod is unschedulable.
"""

BARE = frozenset({"seconds", "pause", "grace", "timeout"})
"""Constants of this name alone do not say what takes that long."""

OTHER_SUFFIXES = ("_s", "_sec", "_secs", "_pause", "_timeout", "_grace", "_patience")
"""Constants that end so are numbers of seconds: they end in ``_SECONDS``."""

EXCEPTIONS = {
    "llmd_gke/manifests/host_group.py": "its source is a command of pods: other names would replace the pods of stacks",
}
"""Files that may keep such names, and why."""


def sources() -> Iterator[Path]:
    """Every Python file of the repository."""
    yield ROOT / "__main__.py"
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.py"))


def bindings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of everything that gets a name: variables, attributes, parameters, functions, classes, imports."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
            ):
                yield node.lineno, name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((node.lineno, one.asname or one.name) for one in names)
            case _:
                pass


def empty_names(source: str) -> list[tuple[int, str]]:
    """Line and name of the bindings whose name says nothing."""
    return sorted((line, name) for line, name in bindings(ast.parse(source)) if name.strip("_").lower() in EMPTY)


def test_no_name_fits_any_value() -> None:
    texts = {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in sources()}
    assert len(texts) > 500
    empty = {file: names for file, text in texts.items() if (names := empty_names(text))}
    assert empty.keys() == EXCEPTIONS.keys(), empty


def test_no_name_is_one_that_a_term_of_the_field_has_replaced() -> None:
    former: list[str] = []
    for file in sources():
        for line, name in bindings(ast.parse(file.read_text(encoding="utf-8"))):
            if name.strip("_").lower() in FORMER:
                former.append(f"{file.relative_to(ROOT)}:{line}: {name}")
    assert not former


SHORT = frozenset({"A", "T", "x", "y"})
"""Names of one letter that others chose: dnspython's class of A records, a type variable, coordinates."""

MODULES_OF_TESTS = frozenset({"b", "s"})
"""Aliases of modules with builders for tests, which a line names several times."""


class _WithoutLocals(ast.NodeTransformer):
    """Removes what is bound for one expression only: targets of comprehensions, parameters of lambdas."""

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        node.target = ast.Name("_", ast.Store(), lineno=0)
        self.generic_visit(node)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        node.args = ast.arguments([], [], None, [], [], None, [])
        self.generic_visit(node)
        return node


def one_letter_names(source: str) -> list[tuple[int, str]]:
    """Line and name of bindings of one letter that outlive their expression."""
    tree = _WithoutLocals().visit(ast.parse(source))
    return [(line, name) for line, name in bindings(tree) if len(name.strip("_")) == 1 and name not in SHORT]


def test_a_name_of_one_letter_ends_with_its_expression() -> None:
    short = [
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for file in sources()
        for line, name in one_letter_names(file.read_text(encoding="utf-8"))
        if file.relative_to(ROOT).parts[0] != "tests" or name not in MODULES_OF_TESTS
    ]
    assert not short


@pytest.mark.parametrize("source", ["a = 1", "for n in ways: pass", "def run(f): pass", "import one as o", "_M = 1"])
def test_a_name_of_one_letter_is_seen(source: str) -> None:
    assert len(one_letter_names(source)) == 1


@pytest.mark.parametrize(
    "source", ["[n for n in ways]", "run(lambda k, v: k)", "x, y = at", "_ = run()", 'T = new("T")']
)
def test_names_of_one_expression_and_coordinates_are_allowed(source: str) -> None:
    assert one_letter_names(source) == []


def unclear_seconds(source: str) -> list[str]:
    """Names of a module's numeric constants that hold seconds but do not end in ``_SECONDS``."""
    names: list[str] = []
    for node in ast.parse(source).body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ):
                plain = name.strip("_").lower()
                numeric = isinstance(value, ast.Constant) and isinstance(value.value, int | float)
                if name.isupper() and numeric and (plain in BARE or plain.endswith(OTHER_SUFFIXES)):
                    names.append(name)
            case _:
                pass
    return names


def test_constants_of_seconds_say_what_takes_that_long_and_end_in_seconds() -> None:
    unclear = {
        str(file.relative_to(ROOT)): names
        for file in sources()
        if (names := unclear_seconds(file.read_text(encoding="utf-8")))
    }
    assert not unclear


@pytest.mark.parametrize(
    "source", ["SECONDS = 5", "_PAUSE: float = 0.5", "DRAIN_S = 3", "LAST_PAUSE = 30", "GRACE = 1"]
)
def test_a_constant_of_seconds_with_another_name_is_seen(source: str) -> None:
    assert len(unclear_seconds(source)) == 1


@pytest.mark.parametrize("source", ["DRAIN_SECONDS = 3", 'PAUSE = "a"', "pause = 3", "TIMEOUT = {}", "ADDRESS = 1"])
def test_a_constant_that_ends_in_seconds_or_is_no_number_is_allowed(source: str) -> None:
    assert unclear_seconds(source) == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("found = 1", "found"),
        ("first, *words = text", "words"),
        ("KNOWN: int = 1", "KNOWN"),
        ("self._told = 1", "_told"),
        ("for place in ways: pass", "place"),
        ("[found for found in ways]", "found"),
        ("if (found := look()): pass", "found"),
        ("lambda *words: None", "words"),
        ("def told(): pass", "told"),
        ("class Found: pass", "Found"),
        ("def ask(*, place): pass", "place"),
        ("with ask() as told: pass", "told"),
        ("import told", "told"),
        ("from ways import one as place", "place"),
        ("match one:\n    case {**known}: pass", "known"),
        ("match one:\n    case [*_, known]: pass", "known"),
    ],
)
def test_every_way_to_bind_a_name_is_seen(source: str, name: str) -> None:
    assert [one for _, one in empty_names(source)] == [name]


@pytest.mark.parametrize("source", ["known_zones = 1", "print(found)", 'one["words"]', "ask(place=1)", "'told'"])
def test_longer_names_uses_and_keys_of_others_are_no_bindings(source: str) -> None:
    assert not empty_names(source)


def test_a_class_name_means_one_thing_outside_of_tests() -> None:
    files: dict[str, list[str]] = {}
    for file in sources():
        relative = file.relative_to(ROOT)
        if relative.parts[0] == "tests":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                files.setdefault(node.name, []).append(str(relative))
    assert len(files) > 300
    several = {name: defined for name, defined in files.items() if len(defined) > 1}
    assert not several
