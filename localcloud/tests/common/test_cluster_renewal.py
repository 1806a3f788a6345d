"""When a cluster that is being made finds the control plane of an earlier one, and who is told to empty it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from llmd_common.problems import Problem
from localcloud.common import cluster_renewal as renew
from localcloud.common import cluster_status as status
from localcloud.common.layout import Layout


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path)
    made.run.mkdir(parents=True)
    return made


def test_outside_of_a_laptop_cloud_the_machines_first_process_gets_no_signal(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "kill", None)
    (layout.etcd / "member").mkdir(parents=True)
    renew.used(layout).touch()
    with pytest.raises(Problem, match="not started inside the laptop cloud"):
        renew.take(layout)
    assert not renew.asked(layout).exists()


def test_an_emptied_control_plane_that_fails_says_why(layout: Layout) -> None:
    status.write(layout.status, status.Status("failed", "etcd does not start", []))
    with pytest.raises(Problem, match=r"does not start: etcd does not start\nFix: .*make down CLOUD=laptop"):
        renew.wait(layout)
