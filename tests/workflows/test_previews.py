"""No command that changes a stack skips its preview, wherever it is written down.

The engine runs rules about the whole program after all resources are made: only the preview inside ``up`` lets them
stop anything.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.workflows.conftest import ROOT


def sources() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    files = [ROOT / name for name in listed if not name.startswith("tests/")]
    return [file for file in files if file.suffix in {".md", ".yaml", ".yml", ".py", ".sh", ".toml", ""}]


def commands(text: str) -> list[str]:
    """The command lines that mention ``--skip-preview``, continued lines joined."""
    joined = re.sub(r"\\\n\s*", " ", text)
    return [line.strip() for line in joined.splitlines() if "--skip-preview" in line]


def changes_a_stack(line: str) -> bool:
    """Whether a command line is an ``up``; ``refresh`` and ``destroy`` run no policies."""
    return re.search(r"\b(?:up|update)\b", line) is not None


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("pulumi up --yes --skip-preview", True),
        ("pulumi up \\\n  --yes --skip-preview", True),
        ('runner.stream("up", "--yes", "--skip-preview")', True),
        ('runner.stream("destroy", "--yes", "--skip-preview")', False),
        ("pulumi refresh --yes --skip-preview", False),
        ("pulumi up --yes", False),
    ],
)
def test_an_update_without_preview_is_recognized(line: str, result: bool) -> None:
    assert any(map(changes_a_stack, commands(line))) is result


def test_no_update_skips_its_preview() -> None:
    files = sources()
    assert {"deploy.yaml", "Makefile", "README.md", "operations.md"} <= {file.name for file in files}
    result = [
        f"{file.relative_to(ROOT)}: {line}"
        for file in files
        if file.is_file()
        for line in commands(file.read_text(encoding="utf-8"))
        if changes_a_stack(line)
    ]
    assert result == []
