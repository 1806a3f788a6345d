"""Fixtures of the rehearsal tests; ``Rehearsal`` is in ``harness.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from localcloud import binaries
from localcloud.binaries.table import GOOGLE_PROVIDER
from localcloud.common.workdir import cache_folder
from localcloud.pulumi_cli import resolve
from tests.real_engine.harness import SMALL_PROGRAM, Rehearsal
from tests.shared_folder import made_once

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest goes first, and what is short fills the gaps at the end: slow tests, then rehearsals.

    A worker that begins a test of 30 s when the other one has nothing left to do would make the whole run wait.
    """
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.rehearsal)
    items.sort(key=lambda item: (not item.get_closest_marker("slow"), not item.get_closest_marker("rehearsal")))


@pytest.fixture(scope="session")
def engine() -> None:
    """The engine and Google's provider are there; a test run must not build them by the way."""
    if resolve.ready(cache_folder()) is None or binaries.ready(GOOGLE_PROVIDER, cache_folder()) is None:
        pytest.fail("The Pulumi engine is not set up. Run: make test (or: .venv/bin/python -m localcloud setup)")


@pytest.fixture
def rehearsal(tmp_path: Path, engine: None) -> Iterator[Rehearsal]:
    """The product's own program in a project folder and a home of the test's own."""
    made = Rehearsal(tmp_path)
    made.copy_project()
    yield made
    made.stop_everything()


def brought_up_once(factory: pytest.TempPathFactory, name: str, prepare: Callable[[Rehearsal], None]) -> Path:
    """A folder in which stack `local` is up: made once for all workers of a run, to be copied and never changed.

    What `make up` printed is in its ``up.txt``.
    """

    def bring_up(folder: Path) -> None:
        made = Rehearsal(folder)
        try:
            made.copy_project()
            prepare(made)
            text = made.up().stdout
        finally:
            made.stop_everything()
        (folder / "up.txt").write_text(text)

    return made_once(factory, name, bring_up)


def empty_project(rehearsal: Rehearsal) -> None:
    """No API is enabled yet, as Google makes projects."""
    rehearsal.faults({})


def small_program(rehearsal: Rehearsal) -> None:
    """Three resources."""
    rehearsal.program(SMALL_PROGRAM)


@pytest.fixture(scope="session")
def brought_up(tmp_path_factory: pytest.TempPathFactory, engine: None) -> Path:
    """The product's stack as it is shipped, brought up in an empty project."""
    return brought_up_once(tmp_path_factory, "local-is-up", empty_project)


@pytest.fixture(scope="session")
def small_brought_up(tmp_path_factory: pytest.TempPathFactory, engine: None) -> Path:
    """The program of three resources."""
    return brought_up_once(tmp_path_factory, "small-is-up", small_program)


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
    small_program(rehearsal)
    return rehearsal


@pytest.fixture
def small_running(tmp_path: Path, small_brought_up: Path) -> Iterator[Rehearsal]:
    """As `small`, up; a copy as `running` is one."""
    made = Rehearsal(tmp_path)
    made.continue_from(small_brought_up)
    yield made
    made.stop_everything()
