"""The table of what a change of a stack does, against the plans of both Google providers."""

from __future__ import annotations

from pathlib import Path

from localcloud.tests.published_provider import stack_changes
from localcloud.tests.published_provider.conftest import Published
from tests.real_engine.harness import Rehearsal


def test_the_page_says_what_the_published_provider_plans(published: Published) -> None:
    assert stack_changes.table(published) == stack_changes.shown()


def test_the_rehearsal_plans_the_same(tmp_path: Path) -> None:
    """Through the engine, with the hand-written provider."""
    rehearsal = Rehearsal(tmp_path)
    rehearsal.copy_project()
    try:
        assert stack_changes.table(rehearsal) == stack_changes.shown()
    finally:
        rehearsal.stop_everything()
