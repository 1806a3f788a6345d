"""Fixtures of the rehearsal tests; ``Rehearsal`` is in ``harness.py``."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmd_gke.laptop.engine import choose
from llmd_gke.laptop.paths import cache_folder
from tests.rehearsal.harness import SMALL_PROGRAM, Rehearsal

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.rehearsal)


@pytest.fixture(scope="session")
def engine() -> None:
    """The engine is there; a test run must not build it by the way."""
    if choose.ready(cache_folder()) is None:
        pytest.fail("The Pulumi engine is not set up. Run: make test (or: .venv/bin/python -m llmd_gke.laptop setup)")


@pytest.fixture
def rehearsal(tmp_path: Path, engine: None) -> Iterator[Rehearsal]:
    """The product's own program in a project folder and a home of the test's own."""
    made = Rehearsal(tmp_path)
    made.copy_project()
    yield made
    made.stop_everything()


@pytest.fixture(scope="session")
def brought_up(tmp_path_factory: pytest.TempPathFactory, engine: None) -> Path:
    """A folder in which the product's stack `local` is up: made once for all workers of a run, to be copied."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    folder = shared / "local-is-up"
    with (shared / "local-is-up.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "home").exists():
            shutil.rmtree(folder, ignore_errors=True)
            making = shared / "local-comes-up"
            made = Rehearsal(making)
            try:
                made.copy_project()
                made.up()
            finally:
                made.stop_everything()
            making.rename(folder)
    return folder


@pytest.fixture
def running(tmp_path: Path, brought_up: Path) -> Iterator[Rehearsal]:
    """As `rehearsal`, with stack `local` up as it is shipped: a copy, so a test may change what it likes.

    For tests of what comes after an `up`. Plain commands need `--stack`: which stack is selected is not copied.
    """
    made = Rehearsal(tmp_path)
    made.continue_from(brought_up)
    yield made
    made.stop_everything()


@pytest.fixture
def small(rehearsal: Rehearsal) -> Rehearsal:
    """The same with a program of three resources, for tests of the life cycle."""
    (rehearsal.root / "policies").unlink(missing_ok=True)  # policies are about the product's resources
    rehearsal.program(SMALL_PROGRAM)
    return rehearsal
