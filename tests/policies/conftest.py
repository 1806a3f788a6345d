from __future__ import annotations

from collections.abc import Callable

import pytest

from llmd_gke.settings.validation import CLOUD_VARIABLE

InStack = Callable[[str], None]


@pytest.fixture(autouse=True)
def in_stack(monkeypatch: pytest.MonkeyPatch) -> InStack:
    """Says which stack the pack runs for, the way the engine says it."""
    monkeypatch.setenv("PULUMI_PROJECT", "test")
    monkeypatch.setenv("PULUMI_DRY_RUN", "true")
    monkeypatch.setenv(CLOUD_VARIABLE, "rehearsal")

    def choose(stack: str) -> None:
        monkeypatch.setenv("PULUMI_STACK", stack)

    choose("dev")
    return choose
