"""The shapes that these tests are made of are those of real objects: recorded ones of the laptop cloud (``record.py``).

``localcloud/tests/real_kubernetes/test_operations.py`` asks the same of a laptop cloud that runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llmd_gke.settings.load import load_stack
from operations.outputs import Outputs
from operations.status import screen
from operations.status.objects import State
from tests.operations.status import record, shapes, structure

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(("name", "kind", "example"), shapes.EXAMPLES)
def test_a_shape_has_nothing_that_recorded_objects_do_not_have(name: str, kind: str, example: dict[str, Any]) -> None:
    del name
    lacking = structure.of([example]) - structure.of(record.read().every[kind])
    assert lacking - shapes.NEVER_SEEN == set()


def test_recorded_objects_of_a_stack_that_serves_give_a_screen_without_a_complaint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LLMD_GKE_CLOUD", "laptop")
    recorded = record.read()
    shown = screen.sections(
        recorded.snapshot, load_stack(ROOT, "local").settings, Outputs(recorded.gateway_ip, (), {}, {}), "local"
    )
    wrong = [line for section in shown for line in section.lines if line.state in (State.BAD, State.BUSY)]
    assert wrong == []
    titles = [section.title for section in shown if section.lines]
    assert titles[:3] == ["Nodes", "Model qwen", "Gateway"]
