"""When a cluster that is being made finds the control plane of an earlier one, and who is told to empty it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from llmd_common.problems import Problem
from localcloud.common import cluster_renewal as renew
from localcloud.common.layout import Layout


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path)
    made.run.mkdir(parents=True)
    return made


@pytest.fixture
def signals(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """What would have been sent to whom."""
    sent: list[tuple[int, int]] = []

    def kill(pid: int, number: int) -> None:
        sent.append((pid, number))

    monkeypatch.setattr(os, "kill", kill)
    return sent


def hold_something(layout: Layout) -> None:
    (layout.etcd / "member").mkdir(parents=True)


def test_outside_of_a_laptop_cloud_the_machines_first_process_gets_no_signal(
    layout: Layout, signals: list[tuple[int, int]]
) -> None:
    hold_something(layout)
    renew.used(layout).touch()
    with pytest.raises(Problem, match="not started inside the laptop cloud"):
        renew.take(layout)
    assert not renew.asked(layout).exists()
    assert signals == []
