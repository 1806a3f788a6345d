"""Which local cloud it is decides one table: nothing else in `localcloud` asks for it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

from localcloud.common.workdir import TRAITS, CloudKind
from localcloud.workflow.backend import BACKENDS

ROOT = Path(__file__).parents[2]
KINDS = frozenset(get_args(CloudKind))
IMPLEMENTATIONS = frozenset(path.rpartition(".")[2] for path in BACKENDS.values())


def questions(source: str) -> list[int]:
    """Lines that compare with the name of a kind of cloud, match it, or ask for the class of a backend."""
    lines: list[int] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare():
                operands = [inner for one in (node.left, *node.comparators) for inner in ast.walk(one)]
                if any(isinstance(one, ast.Constant) and one.value in KINDS for one in operands):
                    lines.append(node.lineno)
            case ast.MatchValue(value=ast.Constant(value=value)) if value in KINDS:
                lines.append(node.lineno)
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
                names = {one.id for one in ast.walk(kinds) if isinstance(one, ast.Name)}
                lines += [node.lineno] if names & IMPLEMENTATIONS else []
            case _:
                pass
    return lines


def test_nothing_asks_which_local_cloud_it_is() -> None:
    sources = sorted((ROOT / "localcloud").rglob("*.py"))
    assert len(sources) > 200
    asking = {str(file.relative_to(ROOT)): lines for file in sources if (lines := questions(file.read_text()))}
    assert asking == {}


def test_each_kind_of_cloud_has_one_backend_and_its_traits() -> None:
    assert BACKENDS.keys() == TRAITS.keys() == KINDS
    assert len(IMPLEMENTATIONS) == len(KINDS) == 2


@pytest.mark.parametrize(
    "source",
    [
        'workdir.kind == "laptop"',
        '"rehearsal" != kind',
        'kind in ("laptop", "other")',
        'os.environ.get("LLMD_GKE_CLOUD", "rehearsal") == given',
        'match kind:\n    case "laptop": pass',
        "isinstance(backend, LaptopCloud)",
        "isinstance(backend, (Rehearsal, Other))",
    ],
)
def test_a_question_for_the_kind_of_cloud_is_seen(source: str) -> None:
    assert len(questions(source)) == 1


@pytest.mark.parametrize("source", ['kind = "laptop"', 'run("laptop")', "one.kind == other.kind", 'name == "laptops"'])
def test_what_only_names_a_kind_of_cloud_is_no_question(source: str) -> None:
    assert questions(source) == []
