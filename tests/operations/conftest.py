"""A git repository with a stack whose file changes from revision to revision, and the cloud of the shell."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from llmd_gke.graph.parts import Parts
from llmd_gke.settings.validation import CLOUD_VARIABLE
from operations import record_graph
from tests import graphs
from tests.operations.engine import Engine

STACK = """\
config:
  gcp:project: my-project
  llmd-gke:cluster: {{name: llmd-one, zone: {zone}, deletionProtection: false}}
  llmd-gke:pools:
    - {{name: pool, machineType: ct6e-standard-4t, topology: 2x2, minNodes: {least}, maxNodes: {most}{more}}}
  llmd-gke:models:
    - {{name: qwen, uri: "hf://Qwen/Qwen3-4B", pool: pool, replicas: {replicas}}}
"""


class Clone:
    """A clone with the stack ``one``, changed by :meth:`write` and :meth:`commit`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
        return subprocess.run(
            ["git", "-C", str(self.root), *identity, *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()

    def write(self, stack: str = "one", **values: object) -> None:
        chosen: Mapping[str, object] = {
            "zone": "us-east5-b", "least": 0, "most": 4, "replicas": 3, "more": "", **values
        }  # fmt: skip
        (self.root / f"Pulumi.{stack}.yaml").write_text(STACK.format(**chosen))

    @property
    def file(self) -> Path:
        """The file of the stack ``one``."""
        return self.root / "Pulumi.one.yaml"

    def edit(self, old: str, new: str) -> None:
        self.file.write_text(self.file.read_text().replace(old, new))

    def add(self, lines: str) -> None:
        self.file.write_text(self.file.read_text() + lines)

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=change")
        return self.git("rev-parse", "HEAD")


@pytest.fixture(autouse=True)
def cloud_of_the_shell() -> Iterator[None]:
    """Commands set the variables of their stack's cloud for the whole process, which ends with them elsewhere."""
    before = {name: os.environ.get(name) for name in ("LLMD_GKE_CLOUD", "LLMD_GKE_HOME")}
    yield
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """An empty clone with the stack ``one`` written and committed."""
    made = Clone(tmp_path)
    (tmp_path / "Pulumi.yaml").write_text("name: llmd-gke\nruntime: python\n")
    made.write()
    made.commit()
    return made


@pytest.fixture
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return Engine(tmp_path_factory.mktemp("engine"))


@pytest.fixture
def shared_recordings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands get the graph of a shipped stack from the recordings of the whole run."""
    monkeypatch.setenv(CLOUD_VARIABLE, "rehearsal")
    monkeypatch.setattr(record_graph, "record", lambda target: Parts(graphs.load(target.root, target.stack)))
