"""Stand-in providers that start with the engine change nothing but the time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from localcloud.workflow import commands, config, early_providers
from tests.real_engine.harness import Rehearsal


def plan(rehearsal: Rehearsal) -> dict[str, Any]:
    """The operation and the inputs of each resource in a preview of ``eu4a``, by its URN."""
    config.sync(rehearsal.workdir, "eu4a", commands.secrets_of(rehearsal.workdir, "eu4a"))
    copy = str(rehearsal.workdir.stack_copy("eu4a"))
    shown = rehearsal.runner().ask("preview", "--json", "--stack", "eu4a", "--config-file", copy)
    return {step["urn"]: (step["op"], step["newState"].get("inputs")) for step in json.loads(shown)["steps"]}


def test_the_plan_is_the_same_with_and_without_early_providers(
    rehearsal: Rehearsal, monkeypatch: pytest.MonkeyPatch
) -> None:
    rehearsal.preview("eu4a")  # creates the stack
    monkeypatch.setenv(early_providers.SWITCH, "0")
    late = plan(rehearsal)
    monkeypatch.delenv(early_providers.SWITCH)
    early = plan(rehearsal)
    assert len(early) > 80
    assert sum(inputs is not None for _, inputs in early.values()) > 60
    assert early == late
