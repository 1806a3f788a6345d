"""The table of what a change of a stack does."""

from __future__ import annotations

from localcloud.tests.published_provider import stack_changes
from tests.real_engine.harness import Rehearsal


def test_the_page_says_what_the_provider_plans(published: Rehearsal) -> None:
    assert stack_changes.table(published) == stack_changes.shown()
