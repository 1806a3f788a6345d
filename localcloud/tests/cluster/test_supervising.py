"""When the supervisor takes a process for ready; ``real_kubernetes`` shows how all of them start, end and stop."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from localcloud.cluster.service import Service, written
from localcloud.cluster.supervisor import Kept, Supervisor
from localcloud.common import cluster_status as status
from localcloud.common.layout import Layout


@pytest.fixture
def alone(layout: Layout) -> Iterator[Supervisor]:
    """A supervisor in this very process, of one process that runs on and is never ready by itself."""
    mark = layout.mark("one")
    service = Service("one", (sys.executable, "-c", "import signal; signal.pause()"), ready=written(mark), mark=mark)
    made = Supervisor(layout, [Kept(service, status.ProcessStatus("one"))])
    yield made
    for one in made.kept:
        if one.process:
            one.process.kill()
            one.process.wait()


def test_a_process_counts_as_ready_when_it_says_so_however_long_it_has_lived(alone: Supervisor) -> None:
    kept = alone.kept[0]
    alone.step()
    kept.seen.since -= 3600
    alone.step()
    assert (kept.seen.state, alone.state) == ("starting", "starting")
    alone.layout.mark("one").touch()
    alone.step()
    assert (kept.seen.state, alone.state) == ("ready", "ready")


def test_what_an_earlier_run_has_said_does_not_count(alone: Supervisor) -> None:
    alone.layout.mark("one").touch()
    alone.step()
    assert alone.kept[0].process is not None
    assert alone.kept[0].seen.state == "starting"
