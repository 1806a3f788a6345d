"""Fixtures of the rehearsal tests; ``Rehearsal`` is in ``harness.py``."""

from __future__ import annotations

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


@pytest.fixture
def small(rehearsal: Rehearsal) -> Rehearsal:
    """The same with a program of three resources, for tests of the life cycle."""
    (rehearsal.root / "policies").unlink(missing_ok=True)  # policies are about the product's resources
    rehearsal.program(SMALL_PROGRAM)
    return rehearsal
