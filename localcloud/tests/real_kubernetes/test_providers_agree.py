"""One small program through the rehearsal's Kubernetes stand-in and through the real provider: what the engine saw.

Known differences are in :data:`DIFFERENCES`, each with its reason; ``docs/laptop-cloud.md`` lists them for users.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from localcloud.tests.real_kubernetes.agree import saw
from localcloud.tests.real_kubernetes.harness import Laptop
from tests.real_engine.harness import Rehearsal

HERE = Path(__file__).parent / "agree"
Seen = dict[str, dict[str, list[saw.Step]]]
STAGES = ("first preview", "up", "again", "changed preview", "changed", "after", "destroy")

DIFFERENCES: dict[str, str] = {
    r" outputs \S+: - -> known$": "the API server adds to what it was sent (status, defaults); the stand-in is an echo",
    r"^secret \S+ outputs stringData: known -> -$": "the real provider turns stringData into data first",
    r"^secret (replace|create-replacement) differences ": "the same: it names data.token",
}
"""Sort of difference (a regular expression), and why it stays."""


def staged(cloud: Rehearsal, value: str, **more: str) -> None:
    stage = {"value": value, "chart": str(HERE / "chart"), **more}
    (cloud.root / "stage.json").write_text(json.dumps(stage))


def run(cloud: Rehearsal) -> Seen:
    """The whole life of the program, as its events tell it."""
    cloud.program((HERE / "program.py").read_text())
    staged(cloud, "one")
    cloud.make("env")
    cloud.pulumi("stack", "init", "local")
    seen = {
        "first preview": saw.steps(cloud.events("preview")),
        "up": saw.steps(cloud.events("up", "--yes", "--skip-preview")),
        "again": saw.steps(cloud.events("preview")),
    }
    staged(cloud, "two", more="yes")
    seen["changed preview"] = saw.steps(cloud.events("preview"))
    seen["changed"] = saw.steps(cloud.events("up", "--yes", "--skip-preview"))
    cloud.pulumi("refresh", "--yes", "--expect-no-changes", "--stack", "local")
    seen["after"] = saw.steps(cloud.events("preview"))
    seen["destroy"] = saw.steps(cloud.events("destroy", "--yes", "--skip-preview"))
    return seen


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, whole: None) -> Iterator[tuple[Seen, Seen]]:
    rehearsal, laptop = Rehearsal(tmp_path_factory.mktemp("standin")), Laptop(tmp_path_factory.mktemp("real"))
    try:
        rehearsal.copy_project()
        laptop.copy_project()
        laptop.start()
        yield run(rehearsal), run(laptop)
    finally:
        rehearsal.stop_everything()
        laptop.stop_everything()


@pytest.mark.parametrize("stage", STAGES)
def test_both_providers_take_the_same_steps_for_the_same_reasons(both: tuple[Seen, Seen], stage: str) -> None:
    standin, real = (seen[stage] for seen in both)
    assert standin, "nothing was seen: the comparison would prove nothing"
    result = saw.compare(standin, real)
    assert [line for line in result if not any(re.search(sort, line) for sort in DIFFERENCES)] == []
