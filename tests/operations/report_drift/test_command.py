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


def test_without_the_right_the_role_is_named(google: emulated.Google, stack: Path) -> None:
    google.fails("monitoring.projects.timeSeries.create", 403, "Permission monitoring.timeSeries.create denied")
    done = run("report-drift", "--stack", "one", "--same", root=stack)
    assert (done.returncode, done.stdout) == (3, "")
    assert "Fix: grant the caller roles/monitoring.metricWriter in project some-project" in done.stderr


def test_an_error_of_googles_is_none_of_the_stack(google: emulated.Google, stack: Path) -> None:
    google.fails("monitoring.projects.timeSeries.create", 400, "bad point")
    assert run("report-drift", "--stack", "one", "--same", root=stack).returncode == 8


def test_a_call_must_say_what_was_found(google: emulated.Google, stack: Path) -> None:
    done = run("report-drift", "--stack", "one", root=stack)
    assert done.returncode == 2
    assert "Fix: --differs or --same" in done.stderr


def test_a_stack_of_this_machine_is_not_reported(google: emulated.Google, stack: Path) -> None:
    done = run("report-drift", "--stack", "one", "--same", "--cloud", "rehearsal", root=stack)
    assert done.returncode == 2
    assert "no Cloud Monitoring" in done.stderr
    assert google.calls == []
