from __future__ import annotations

import subprocess
from pathlib import Path

from tests.workflows.conftest import FILES


def test_the_workflows_are_right(actionlint: Path) -> None:
    done = subprocess.run([str(actionlint), *map(str, FILES)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
