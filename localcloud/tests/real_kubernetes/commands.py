"""The operator's commands, called as users call them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from localcloud.tests.real_kubernetes.harness import Laptop


def called(laptop: Laptop, folder: Path, *arguments: str, stack: str = "local") -> subprocess.CompletedProcess[str]:
    """`llmd-gke`, as its script in `.venv/bin` runs it: from any folder, knowing where its modules are."""
    environment = {name: value for name, value in laptop.environment.items() if name != "PYTHONPATH"}
    start = (
        f"import sys; sys.path.insert(0, {laptop.environment['PYTHONPATH']!r});"
        "from operations.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-P", "-c", start, *arguments, "--stack", stack, "--cloud", "laptop"]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=180
    )
