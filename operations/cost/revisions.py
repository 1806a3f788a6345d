"""Stack files at a git revision, read by this clone's code."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from llmd_common import child_process
from operations.exits import BadInput, SetUpFailed

if TYPE_CHECKING:
    from llmd_gke.settings import StackSettings


def commit_of(root: Path, revision: str) -> str:
    """The commit of a revision. Raises ``BadInput`` for one that this clone does not have."""
    done = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if done.returncode:
        raise BadInput(
            f"{revision} is not a commit, branch or tag of this clone ({root}).\n"
            "Fix: git fetch origin, then use one of `git log --oneline` or `git branch -a`, for example origin/main"
        )
    return done.stdout.strip()


def file_at(root: Path, revision: str, name: str) -> str | None:
    """The text of a file in ``root`` at a revision; ``None`` if it did not exist. Raises ``BadInput`` if git fails."""
    commit = commit_of(root, revision)
    listed = _git(root, "ls-tree", "--name-only", commit, "--", f"./{name}")
    if listed.returncode == 0 and not listed.stdout.strip():
        return None
    shown = _git(root, "show", f"{commit}:./{name}")
    if shown.returncode:
        raise BadInput(f"{name} at {revision} cannot be read: {shown.stderr.strip()}\nFix: git fetch --unshallow")
    return shown.stdout


def settings_at(root: Path, revision: str, stack: str) -> StackSettings | None:
    """A stack's settings at a revision; ``None`` if there was no such stack.

    Raises ``BadInput`` for an unknown revision, and for a file that this clone's code rejects.
    """
    from llmd_gke.settings.errors import SettingsError
    from llmd_gke.settings.load import load_stack

    text = file_at(root, revision, f"Pulumi.{stack}.yaml")
    if text is None:
        return None
    with tempfile.TemporaryDirectory(prefix="llmd-gke-") as folder:
        (Path(folder) / f"Pulumi.{stack}.yaml").write_text(text, encoding="utf-8")
        try:
            with _on_stand_ins():
                return load_stack(Path(folder), stack).settings
        except SettingsError as error:
            raise BadInput(
                f"{error}\n\nThis is the file at {revision}, read by the current code.\n"
                "Fix: choose a revision whose settings are still valid, or compare in a clone at that revision"
            ) from None


@contextlib.contextmanager
def _on_stand_ins() -> Generator[None]:
    """Allows reading settings of stacks that must not reach Google Cloud: no cloud is called here."""
    from llmd_gke.settings.validation import CLOUD_VARIABLE

    given = os.environ.get(CLOUD_VARIABLE)
    os.environ[CLOUD_VARIABLE] = given or "rehearsal"
    try:
        yield
    finally:
        if given is None:
            del os.environ[CLOUD_VARIABLE]


def stacks_at(root: Path, revision: str) -> list[str]:
    """The stacks that had a file at a revision. Raises ``BadInput`` for an unknown revision."""
    listed = _git(root, "ls-tree", "--name-only", commit_of(root, revision), "--", "./").stdout.splitlines()
    names = [line for line in listed if line.startswith("Pulumi.") and line.endswith(".yaml")]
    return sorted(name.split(".")[1] for name in names if name.count(".") == 2)


def _git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return child_process.run(["git", "-C", str(root), *arguments])
    except FileNotFoundError:
        raise SetUpFailed("`git` is not on PATH, and revisions are read with it.\nFix: install git") from None
