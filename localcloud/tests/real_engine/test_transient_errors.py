"""What the real engine logs of a failure, read for whether it passes by itself."""

from __future__ import annotations

import pytest

from localcloud.cluster import transient_errors
from localcloud.workflow import failures
from tests.real_engine.conftest import small_program
from tests.real_engine.harness import Rehearsal


@pytest.mark.parametrize(("message", "passes"), [("context deadline exceeded", True), ("backend error", False)])
def test_what_the_engine_says_of_itself_does_not_count(rehearsal: Rehearsal, message: str, passes: bool) -> None:
    small_program(rehearsal)
    rehearsal.make("env")
    rehearsal.pulumi("stack", "init", "local")
    rehearsal.google_faults({"fault": "operation", "method": "compute.networks.insert", "message": message})
    rehearsal.events("up", "--yes", "--skip-preview", check=False)
    log = rehearsal.folder / "events.jsonl"
    assert len(list(failures.errors(log))) == 1
    assert bool(transient_errors.cause(log)) is passes
