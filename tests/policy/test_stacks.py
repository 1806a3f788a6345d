"""The shipped stacks pass their own pack."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmd_gke.graph.recording import load
from tests.policy.conftest import InStack
from tests.policy.support import judge, recorded

ROOT = Path(__file__).parents[2]
STACKS = sorted(file.name.split(".")[1] for file in ROOT.glob("Pulumi.*.yaml"))


@pytest.mark.parametrize("preview", [True, False], ids=["first-preview", "update"])
@pytest.mark.parametrize("stack", STACKS)
def test_a_shipped_stack_raises_no_alarm(stack: str, preview: bool, in_stack: InStack) -> None:
    in_stack(stack)
    program = recorded(load(ROOT, stack, preview=preview))
    assert len(program) > 40
    said = judge(program)
    assert [one for one in said if one.level == "MANDATORY"] == []
    assert [one for one in said if "can't run policy" in one.text] == []
