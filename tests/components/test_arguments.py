"""What components take: narrow values, so that each fits into a program with settings of its own."""

from __future__ import annotations

import ast
from pathlib import Path


def test_a_component_does_not_take_the_settings_of_the_whole_stack() -> None:
    files = sorted((Path(__file__).parents[2] / "components").glob("*.py"))
    classes = [
        node for file in files for node in ast.parse(file.read_text("utf-8")).body if isinstance(node, ast.ClassDef)
    ]
    arguments = [node for node in classes if node.name.endswith("Args")]
    assert len(arguments) == 21
    fields = [item for node in arguments for item in node.body if isinstance(item, ast.AnnAssign)]
    assert [ast.unparse(field) for field in fields if "StackSettings" in ast.unparse(field.annotation)] == []
