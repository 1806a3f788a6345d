"""The page's table of published clients says what the tests show, each of them."""

from __future__ import annotations

import ast

import pytest

from llmd_gke.repository import CLONE
from tests.real_kubernetes.clients.capabilities import CAPABILITIES, DOOR, PATH, table


def names_in(file: str) -> set[str]:
    tree = ast.parse((CLONE / "tests" / "real_kubernetes" / f"{file}.py").read_text(encoding="utf-8"))
    return {
        node.name.removeprefix("test_")
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_the_page_has_the_table() -> None:
    page = (CLONE / "docs" / "laptop-gateway.md").read_text(encoding="utf-8")
    assert table() in page, f"Fix: put this table into the page:\n{table()}"


@pytest.mark.parametrize(
    ("file", "cells"),
    [(PATH, [one.path for one in CAPABILITIES]), (DOOR, [one.door for one in CAPABILITIES])],
    ids=[PATH, DOOR],
)
def test_every_cell_has_its_tests_and_every_test_its_cell(file: str, cells: list[tuple[str, tuple[str, ...]]]) -> None:
    assert {name for _, names in cells for name in names} == names_in(file)
    assert [text for text, names in cells if bool(text) != bool(names)] == []
