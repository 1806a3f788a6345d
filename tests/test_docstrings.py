"""A docstring says what a function returns or does, and not only how it differs from its neighbour."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("llmd_gke", "components", "policies", "operations", "localcloud")
LEAST_WORDS = 3
ALLUSION = re.compile(r"Of |The same(?:[,.]| (?:for|with|in|as)\b)|As it |Until |There is no such ")
"""Beginnings that only make sense beside the code: of what, the same as what, until when."""


def documented(source: str) -> Iterator[tuple[str, str]]:
    """Name and docstring of every function and class in a source text."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and (
            text := ast.get_docstring(node)
        ):
            yield node.name, text


def allusions(source: str) -> list[str]:
    """The docstrings that are too short, or begin with an allusion."""
    return [
        f"{name}: {text.splitlines()[0]}"
        for name, text in documented(source)
        if (len(text.split()) < LEAST_WORDS and "``" not in text) or ALLUSION.match(text)
    ]


@pytest.mark.parametrize(
    "text", ["Of asyncio.", "The same, tried again for a minute.", "Until cancelled.", "One.", "The edge.", "As it is."]
)
def test_an_allusion_is_no_contract(text: str) -> None:
    assert len(allusions(f'def function():\n    """{text}"""\n')) == 1


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_say_what_they_describe(package: str) -> None:
    sources = {file: file.read_text(encoding="utf-8") for file in sorted((ROOT / package).rglob("*.py"))}
    assert any(list(documented(source)) for source in sources.values())
    assert [f"{file.relative_to(ROOT)}: {one}" for file, source in sources.items() for one in allusions(source)] == []
