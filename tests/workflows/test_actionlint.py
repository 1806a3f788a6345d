"""actionlint, the real one, finds nothing wrong with the workflows."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.workflows.conftest import FILES


def lint(actionlint: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(actionlint), *map(str, files)], capture_output=True, text=True, check=False)


def test_the_workflows_are_right(actionlint: Path) -> None:
    assert len(FILES) >= 5
    done = lint(actionlint, *FILES)
    assert done.returncode == 0, done.stdout + done.stderr
