"""What the real engine logs of a failure, read for whether it passes by itself."""

from __future__ import annotations

import pytest

from localcloud.cluster import transient_errors
from localcloud.workflow import failures
from tests.real_engine.conftest import small_program
from tests.real_engine.harness import Rehearsal

BUSY = "context deadline exceeded"


@pytest.mark.parametrize(
    ("texts", "passes"),
    [({"gcp:compute/network:Network": BUSY}, True), ({"gcp:compute/network:Network": "backend error"}, False)],
)
def test_what_the_engine_says_of_itself_does_not_count(
    rehearsal: Rehearsal, texts: dict[str, str], passes: bool
) -> None:
    small_program(rehearsal)
    rehearsal.make("env")
    rehearsal.pulumi("stack", "init", "local")
    rehearsal.faults({"failCreate": texts})
    rehearsal.events("up", "--yes", "--skip-preview", check=False)
    log = rehearsal.folder / "events.jsonl"
    assert len(list(failures.errors(log))) == 1
    assert bool(transient_errors.cause(log)) is passes
