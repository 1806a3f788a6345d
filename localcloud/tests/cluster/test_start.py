"""A start that meets a supervisor: of an earlier command, or of a cluster whose folder is gone."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console
from rich.status import Status

from localcloud.cluster import start
from localcloud.common import cluster_status as status
from localcloud.common.layout import SUPERVISOR, Layout
from localcloud.common.workdir import Workdir
from localcloud.linux_namespaces import discover, rights

WAIT = "import sys; print('runs', flush=True); sys.stdin.read()"


class Launched(Exception):
    """The start went on to launch a supervisor of its own."""


class WhenWaited(Console):
    """A console which sees that the start waits, and lets the supervisor become ready then."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(file=io.StringIO())
        self.layout = layout

    def status(self, *arguments: object, **options: object) -> Status:
        status.write(self.layout.status, status.Status("ready", "", []))
        return super().status("")


@pytest.fixture
def supervisor(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[str]]:
    """A process that is recognised as the supervisor of ``layout`` and has not written a status."""

    def launched() -> list[str]:
        raise Launched

    monkeypatch.setattr(discover, "inner_pid", lambda _pid: 1)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    monkeypatch.setattr(rights, "options", launched)
    process = subprocess.Popen(
        [sys.executable, "-c", WAIT, SUPERVISOR],
        env=os.environ | {discover.HOME: str(layout.home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "runs\n"
    yield process
    process.kill()
    process.communicate()


def workdir(home: Path) -> Workdir:
    return Workdir(home, home, "laptop")


def test_a_supervisor_that_still_sets_up_its_network_is_waited_for(
    layout: Layout, supervisor: subprocess.Popen[str]
) -> None:
    layout.request.write_text("{}")
    start.start(workdir(layout.home), {}, WhenWaited(layout))
    assert supervisor.poll() is None


def test_a_supervisor_whose_folder_was_removed_is_ended(layout: Layout, supervisor: subprocess.Popen[str]) -> None:
    with pytest.raises(Launched):
        start.start(workdir(layout.home), {}, WhenWaited(layout))
    assert supervisor.poll() is not None
