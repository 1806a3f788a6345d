"""The graphs of stacks at another revision, recorded with that revision's program and library."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

from llmd_common import child_process, pulumi_signatures
from llmd_gke.graph import stored
from llmd_gke.graph.resources import Graph
from operations.cost.revisions import commit_of
from operations.exits import BadInput, Failed
from operations.printing import last_line

RECORDER = Path(stored.__file__).parent
RECORDING_SECONDS = 300


def graphs_at(root: Path, revision: str, stacks: Sequence[str]) -> dict[str, Graph | str]:
    """By stack, its graph at a revision of the clone ``root``, or the reason why it could not be recorded.

    The recorder is always this clone's, so that both sides are recorded in the same way. Raises ``BadInput`` for an
    unknown revision.
    """
    commit = commit_of(root, revision)
    if not stacks:
        return {}
    with tempfile.TemporaryDirectory(prefix="llmd-gke-") as folder:
        tree = Path(folder)
        _extract(root, commit, tree)
        shutil.copytree(RECORDER, tree / "llmd_gke" / "graph", dirs_exist_ok=True)
        shared = tree / "llmd_common"  # which older revisions do not have
        shared.mkdir(exist_ok=True)
        shutil.copy(pulumi_signatures.__file__, shared)
        try:
            done = _record(tree, stacks)
        except subprocess.TimeoutExpired:
            raise Failed(
                f"The graphs at {revision} were not recorded within {RECORDING_SECONDS} s.\n"
                "Fix: run the command again when this machine is less busy, or select fewer stacks with --stack"
            ) from None
    if done.returncode:
        raise Failed(
            f"The graphs at {revision} could not be recorded: {last_line(done.stderr) or 'no message'}\n"
            "Fix: use a later revision; its program must run with the packages in .venv"
        )
    data: Mapping[str, Mapping[str, object]] = json.loads(done.stdout)
    return {
        stack: str(one["error"]) if "error" in one else stored.from_data(one) for stack, one in data.items()
    }  # fmt: skip


def _record(tree: Path, stacks: Sequence[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "LLMD_GKE_CLOUD": "rehearsal"}
    return child_process.run(
        [sys.executable, "-m", "llmd_gke.graph.stored", *stacks],
        folder=tree,
        environment=environment,
        seconds=RECORDING_SECONDS,
    )


def _extract(root: Path, commit: str, tree: Path) -> None:
    """Writes the files of a commit to ``tree``; ``root`` may be a folder inside the repository."""
    done = subprocess.run(
        ["git", "-C", str(root), "archive", "--format=tar", f"{commit}:./"], capture_output=True, check=False
    )
    if done.returncode:
        raise BadInput(f"{commit} cannot be read: {done.stderr.decode().strip()}\nFix: git fetch --unshallow")
    with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
        archive.extractall(tree, filter="data")
