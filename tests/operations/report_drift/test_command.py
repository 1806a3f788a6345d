from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from operations.doctor.google import ENDPOINT
from tests.operations.conftest import Clone
from tests.operations.doctor import emulated
from tests.operations.support import run


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[emulated.Google]:
    with emulated.emulating(tmp_path / "google") as emulator:
        monkeypatch.setenv(ENDPOINT, emulator.url)
        yield emulator


@pytest.fixture
def stack(clone: Clone) -> Path:
    file = clone.root / "Pulumi.one.yaml"
    file.write_text(re.sub(r"gcp:project: .*", f"gcp:project: {emulated.PROJECT}", file.read_text()))
    return clone.root


@pytest.mark.parametrize(("option", "value"), [("--same", "0"), ("--differs", "1")])
def test_one_point_of_the_alerts_metric_is_written_for_the_stacks_cluster(
    google: emulated.Google, stack: Path, option: str, value: str
) -> None:
    done = run("report-drift", "--stack", "one", option, root=stack)
    assert done.returncode == 0, done.stderr
    requests: list[dict[str, Any]] = list(google.cloud.requests)
    (written,) = [one["body"]["timeSeries"] for one in requests if one["method"].endswith("timeSeries.create")]
    (series,) = written
    assert series["metric"] == {"type": "custom.googleapis.com/llmd_gke/drift", "labels": {"cluster": "llmd-one"}}
    assert series["points"][0]["value"] == {"int64Value": value}
    assert series["resource"]["type"] == "global"


@pytest.mark.parametrize(
    ("fault", "arguments", "status", "message"),
    [
        (403, ("--same",), 3, "Fix: grant the caller roles/monitoring.metricWriter in project some-project"),
        (400, ("--same",), 8, "bad point"),
        (0, (), 2, "Fix: --differs or --same"),
        (0, ("--same", "--cloud", "rehearsal"), 2, "no Cloud Monitoring"),
    ],
    ids=["no right", "another error", "nothing said", "a local cloud"],
)
def test_what_is_not_written_is_said_with_its_status(
    google: emulated.Google, stack: Path, fault: int, arguments: tuple[str, ...], status: int, *, message: str
) -> None:
    if fault:
        google.fails("monitoring.projects.timeSeries.create", fault, "bad point")
    done = run("report-drift", "--stack", "one", *arguments, root=stack)
    assert (done.returncode, done.stdout) == (status, "")
    assert message in done.stderr
    assert fault or google.calls == []
