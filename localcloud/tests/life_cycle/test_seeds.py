"""Life cycles under random faults: `make test-faults` plays ``SEEDS`` from ``SEED`` on, or the plan in ``PLAN``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from localcloud.tests.life_cycle.machine import Machine
from localcloud.tests.life_cycle.settings_changes import STACK
from localcloud.tests.life_cycle.steps import as_text, from_text, plan_of

FIRST, COUNT = (int(os.environ.get(name) or 1) for name in ("SEED", "SEEDS"))
PLAN = os.environ.get("PLAN")
"""A plan as a failure prints it, in place of those of seeds."""


@pytest.mark.google
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("seed", ["none"] if PLAN else range(FIRST, FIRST + COUNT))
def test_whatever_fails_every_invariant_holds(seed: int, tmp_path: Path) -> None:
    plan = PLAN or as_text(plan_of(seed))
    print(plan, flush=True)
    outcome = Machine(tmp_path, os.environ.get("FAULTS_STACK") or STACK).lived(from_text(plan))
    print(*outcome.log, f"faults met: {dict(outcome.met)}; deleted by hand: {outcome.by_hand}", sep="\n")
    assert outcome.wrong == []
