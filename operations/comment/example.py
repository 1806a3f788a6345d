"""The example in docs/figures.md: ``python -m operations.comment.example`` (run by ``make docs``).

A throw-away repository with the program of this clone and the stack ``eu4a``, to which a second model is added.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from llmd_common import child_process
from llmd_gke.repository import CLONE
from operations.comment.markdown import comment
from operations.comment.report import Collector
from operations.options import Cloud

FILES = ("Pulumi.yaml", "__main__.py", "Pulumi.eu4a.yaml")
FOLDERS = ("components", "llmd_common", "llmd_gke", "quick_sdk")
EDITS = (
    ("maxNodes: 4", "maxNodes: 7"),
    ("replicas: 3", "replicas: 4"),
    (
        "maxNumBatchedTokens: 2048",
        "maxNumBatchedTokens: 2048\n    - {name: small, uri: hf://Qwen/Qwen3-4B, pool: v6e4, maxModelLen: 2048}",
    ),
)


def text() -> str:
    """The comment. Raises ``AssertionError`` if the stack file no longer contains the text to replace."""
    with tempfile.TemporaryDirectory(prefix="llmd-gke-") as folder:
        root = Path(folder)
        for name in FILES:
            shutil.copy(CLONE / name, root / name)
        for name in FOLDERS:
            shutil.copytree(CLONE / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        _git(root, "init", "--quiet", "--initial-branch=main")
        _git(root, "add", "--all")
        _git(root, "commit", "--quiet", "--message=base")
        file = root / "Pulumi.eu4a.yaml"
        content = file.read_text(encoding="utf-8")
        for old, new in EDITS:
            if old not in content:
                raise AssertionError(f"Pulumi.eu4a.yaml no longer holds {old!r}")
            content = content.replace(old, new, 1)
        file.write_text(content, encoding="utf-8")
        reports = Collector(root, "main", Cloud.REHEARSAL).reports(["eu4a"])
    return comment(reports, "main", "pull request 12")


def _git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Example", "-c", "user.email=example@example.com", "-c", "commit.gpgsign=false"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    child_process.run(["git", "-C", str(root), *identity, *arguments], environment=environment).check_returncode()


if __name__ == "__main__":
    sys.stdout.write(text())
