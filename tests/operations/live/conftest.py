"""A project folder whose ``operations`` is a script: what a run calls by processes of its own, without clouds.

It notes its calls and answers with files that the real commands' own code has written.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from operations import outputs
from operations.live import engine, leftovers
from operations.live import run as live_run
from operations.options import Cloud
from operations.target import Target

ROOT = Path(__file__).parents[3]

COMMAND = """\
import json, os, shutil, sys
from pathlib import Path
here = Path({folder!r})
with (here / "calls").open("a") as file:
    print(json.dumps([sys.argv[1:], os.environ["PYTHONPATH"]]), file=file)
name = sys.argv[1]
if (here / f"{{name}}.err").exists():
    print((here / f"{{name}}.err").read_text(), end="", file=sys.stderr)
if (here / "result.json").exists() and "--folder" in sys.argv:
    folder = Path(sys.argv[sys.argv.index("--folder") + 1])
    folder.mkdir()
    shutil.copy(here / "result.json", folder)
if (here / f"{{name}}.out").exists():
    print((here / f"{{name}}.out").read_text())
sys.exit(int((here / f"{{name}}.status").read_text()) if (here / f"{{name}}.status").exists() else 0)
"""


@dataclass(frozen=True)
class Project:
    """The folder, and what its commands answer."""

    root: Path

    def target(self, stack: str, cloud: Cloud) -> Target:
        return Target(stack, cloud, self.root)

    def answers(self, name: str, output: object, *, status: int = 0, stderr: str = "") -> None:
        """What command ``name`` prints (as JSON, unless it is nothing), says besides, and ends with."""
        if output is not None:
            (self.root / f"{name}.out").write_text(json.dumps(output))
        (self.root / f"{name}.err").write_text(stderr)
        (self.root / f"{name}.status").write_text(str(status))

    @property
    def calls(self) -> list[tuple[list[str], str]]:
        return [tuple(json.loads(line)) for line in (self.root / "calls").read_text().splitlines()]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.delenv("LLMD_GKE_CLOUD", raising=False)
    root = tmp_path / "project"
    package = root / "operations"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(COMMAND.format(folder=str(root)))
    for name in ("Pulumi.yaml", "Pulumi.local.yaml", "Pulumi.eu4a.yaml"):
        shutil.copy(ROOT / name, root)
    return Project(root)


@contextmanager
def running(code: str) -> Generator[subprocess.Popen[str]]:
    """A Python process with that source; it and what it started are gone after the block, also when the test fails."""
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        started: list[psutil.Process] = []
        try:
            assert process.stdout is not None
            assert process.stdout.readline()
            started = psutil.Process(process.pid).children(recursive=True)
            yield process
        finally:
            for one in [*started, psutil.Process(process.pid)] if process.poll() is None else started:
                if one.is_running():
                    one.kill()


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Engine commands that note their calls; ``up.sh`` and ``down.sh`` decide how they end."""
    for name in ("up", "down", "unchanged"):
        (tmp_path / f"{name}.sh").write_text(f"echo {name} >> {tmp_path}/calls\n")

        def made(target: Target, events: Path | None = None, name: str = name) -> list[str]:
            return ["sh", str(tmp_path / f"{name}.sh"), *([str(events)] if events else [])]

        monkeypatch.setattr(engine, name, made)
    for name in ("_status", "_smoke", "_bench"):
        monkeypatch.setattr(live_run.Run, name, lambda self: ("passed", "seen"))
    monkeypatch.setattr(leftovers, "look", lambda settings: "")
    monkeypatch.setattr(leftovers, "delete_groups", lambda *args: [])
    monkeypatch.setattr(outputs, "remaining", lambda target: [])
    return tmp_path
