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
from localcloud.binaries import cache_key
from localcloud.binaries.pruning import prune
from localcloud.binaries.table import PROGRAMS
from localcloud.go_builds import lock
from localcloud.go_builds.wrapper import machine
from localcloud.pulumi_cli import cache_key as engine

OLD = f"etcd-v3.5.0-{machine()}-0123456789ab"
OTHERS = ("etcd-v3.5.0-linux-m68k-0123456789ab", "notes")
"""For another machine that shares the cache; and nothing of ours."""


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Every program of this clone, an old one, and what must not be touched."""
    for program in PROGRAMS:
        fill(cache_key.built(tmp_path, program))
    for name in (OLD, *OTHERS):
        fill(tmp_path / "programs" / name / "etcd")
    return tmp_path


def fill(file: Path) -> None:
    file.parent.mkdir(parents=True)
    fill_file(file)


def fill_file(file: Path) -> None:
    file.write_bytes(bytes(3 << 20))


def there(cache: Path) -> set[str]:
    return {one.name for one in (cache / "programs").iterdir()}


def test_only_what_this_clone_does_not_use_goes_and_its_size_is_told_before(cache: Path) -> None:
    asked: list[str] = []

    def yes(question: str) -> bool:
        asked.append(question)
        assert OLD in there(cache)
        return True

    before = there(cache)
    prune(cache, Console(), yes)
    assert len(asked) == 1
    assert "Remove 3 MB" in asked[0]
    assert "Another clone" in asked[0]
    assert there(cache) == before - {OLD}


def test_an_engine_of_before_goes_with_its_parts_and_counts_once(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(kept := engine.built(cache) / "pulumi")
    engine.parts(cache)["pulumi"].parent.mkdir()
    engine.parts(cache)["pulumi"].hardlink_to(kept)
    part = cache / "parts" / f"pulumi-v3.1.0-{machine()}-0123456789ab"
    fill_file(part)
    before = cache / f"engine-v3.1.0-{machine()}-0123456789ab"
    before.mkdir()
    (before / "pulumi").hardlink_to(part)
    (before / "fast_exit.py").write_bytes(bytes(1 << 20))
    (cache / f"{before.name}.lock").touch()

    prune(cache, Console(width=200), lambda _: True)
    assert not part.exists()
    assert not before.exists()
    assert kept.exists()
    assert engine.parts(cache)["pulumi"].exists()
    assert (cache / f"{before.name}.lock").exists()
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
def test_the_command_asks_unless_it_is_told_not_to(cache: Path, arguments: list[str], typed: str, goes: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "localcloud", "--cloud", "laptop", "programs", "--prune", *arguments],
        env={**os.environ, "LLMD_GKE_CACHE": str(cache)},
        cwd=CLONE,
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (OLD not in there(cache)) is goes, done.stdout + done.stderr
    assert ("Removed 3 MB" in done.stdout) is goes
