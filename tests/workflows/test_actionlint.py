"""actionlint, the real one, finds nothing wrong with the workflows."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.workflows.conftest import FILES, FOLDER


def lint(actionlint: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(actionlint), *map(str, files)], capture_output=True, text=True, check=False)


def test_the_workflows_are_right(actionlint: Path) -> None:
    assert len(FILES) >= 5
    done = lint(actionlint, *FILES)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("needs: stacks", "needs: stakcs", "stakcs"),
        (
            "fromJSON(needs.stacks.outputs.names)",
            "fromJSON(needs.stacks.outputs.name)",
            'property "name" is not defined',
        ),
        ("runs-on: ubuntu-24.04", "run-on: ubuntu-24.04", 'unexpected key "run-on"'),
    ],
)
def test_a_mistake_in_a_workflow_is_noticed(
    actionlint: Path, tmp_path: Path, right: str, wrong: str, message: str
) -> None:
    file = tmp_path / ".github" / "workflows" / "checks.yaml"
    file.parent.mkdir(parents=True)
    shutil.copy(FOLDER / "checks.yaml", file)
    assert lint(actionlint, file).returncode == 0
    text = file.read_text()
    assert right in text
    file.write_text(text.replace(right, wrong, 1))
    done = lint(actionlint, file)
    assert done.returncode == 1
    assert message in done.stdout
