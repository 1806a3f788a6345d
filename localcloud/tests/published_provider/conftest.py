"""Google's provider on the emulator with the real engine: what takes too long for `make test-localcloud`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_engine.conftest import brought_up, engine, rehearsal, running
from tests.real_engine.harness import Rehearsal

__all__ = ["brought_up", "engine", "rehearsal", "running"]
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks all of them."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.google)


@pytest.fixture
def published(tmp_path: Path, engine: None) -> Iterator[Rehearsal]:
    """The product's program in a new project: no API is enabled."""
    made = Rehearsal(tmp_path)
    made.copy_project()
    made.faults({})
    yield made
    made.stop_everything()
