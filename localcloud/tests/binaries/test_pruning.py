"""Which programs of the cache may go."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from llmd_common.problems import Busy
from llmd_gke.repository import CLONE
from localcloud.binaries.pruning import prune
from localcloud.binaries.table import PROGRAMS
from localcloud.go_builds import lock
from localcloud.go_builds.wrapper import machine
from localcloud.pulumi_cli import build as engine

OLD = f"etcd-v3.5.0-{machine()}-0123456789ab"
OTHERS = ("etcd-v3.5.0-linux-m68k-0123456789ab", "notes")
"""For another machine that shares the cache; and nothing of ours."""


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Every program of this clone, an old one, and what must not be touched."""
    for program in PROGRAMS:
        fill(program.path(tmp_path))
    for name in (OLD, *OTHERS):
        fill(tmp_path / "programs" / name / "etcd")
    return tmp_path


def fill(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(bytes(3 << 20))


def there(cache: Path) -> set[str]:
    return {one.name for one in (cache / "programs").iterdir()}


def test_an_engine_of_before_goes_with_its_programs_and_counts_once(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(kept := engine.folder(cache) / "pulumi")
    fill(part := cache / "programs" / f"pulumi-v3.1.0-{machine()}-0123456789ab" / "pulumi")
    before = cache / f"engine-v3.1.0-{machine()}-0123456789ab"
    before.mkdir()
    (before / "pulumi").hardlink_to(part)
    (before / "fast_exit.py").write_bytes(bytes(1 << 20))

    prune(cache, Console(width=200), lambda _: True)
    assert not part.exists()
    assert not before.exists()
    assert kept.exists()
    assert "Removed 7 MB" in capsys.readouterr().out  # the old program's 3, the engine's 1 and 3


@pytest.fixture
def runs(cache: Path) -> Iterator[int]:
    """A process of the old program."""
    program = cache / "programs" / OLD / "etcd"
    shutil.copy(str(shutil.which("sleep")), program)
    process = subprocess.Popen([program, "600"])
    yield process.pid
    process.kill()
    process.wait()


def test_a_program_that_runs_stays(cache: Path, runs: int, capsys: pytest.CaptureFixture[str]) -> None:
    prune(cache, Console(width=200), lambda _: pytest.fail("there is nothing to ask"))
    assert OLD in there(cache)
    assert f"process {runs} runs it" in capsys.readouterr().out


def test_nothing_is_removed_while_programs_are_built(cache: Path) -> None:
    with lock.builder(cache, lambda _: None), pytest.raises(Busy, match="is building programs"):
        prune(cache, Console(), lambda _: True)
    assert OLD in there(cache)


@pytest.mark.parametrize(
    ("arguments", "typed", "goes"),
    [([], "", False), ([], "n\n", False), ([], "y\n", True), (["--yes"], "", True)],
)
def test_what_this_clone_does_not_use_goes_after_a_question(
    cache: Path, arguments: list[str], typed: str, goes: bool
) -> None:
    before = there(cache)
    done = subprocess.run(
        [sys.executable, "-m", "localcloud", "--cloud", "laptop", "programs", "--prune", *arguments],
        env={**os.environ, "LLMD_GKE_CACHE": str(cache)},
        cwd=CLONE,
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert there(cache) == (before - {OLD} if goes else before), done.stdout + done.stderr
    assert ("Remove 3 MB of " in done.stdout, "Removed 3 MB" in done.stdout) == (not arguments, goes)
