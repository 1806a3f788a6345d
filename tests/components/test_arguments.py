"""What components take: narrow values, so that each fits into a program with settings of its own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

COMPONENTS = Path(__file__).parents[2] / "components"
ARGS = {
    f"{file.stem}.{node.name}": node
    for file in sorted(COMPONENTS.glob("*.py"))
    for node in ast.parse(file.read_text(encoding="utf-8")).body
    if isinstance(node, ast.ClassDef) and node.name.endswith("Args")
}


def test_the_arguments_of_every_component_are_found() -> None:
    assert len(ARGS) == 20


@pytest.mark.parametrize("name", ARGS)
def test_a_component_does_not_take_the_settings_of_the_whole_stack(name: str) -> None:
    annotations = [ast.unparse(item.annotation) for item in ARGS[name].body if isinstance(item, ast.AnnAssign)]
    assert annotations
    assert [annotation for annotation in annotations if "StackSettings" in annotation] == []
