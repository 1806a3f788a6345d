"""Which tests of the laptop cloud share a cluster, in what order they run, and when there is no time for more.

Starting a cluster is most of what they cost, so files that use the same one run in one worker, one after the other;
tests with a cluster of their own go to whoever is free.
"""

from __future__ import annotations

import time
from pathlib import PurePath

import pytest
from xdist.remote import Producer  # pyright: ignore[reportMissingTypeStubs]
from xdist.scheduler import LoadScopeScheduling  # pyright: ignore[reportMissingTypeStubs]

GROUPS: tuple[tuple[str, ...], ...] = (
    (
        "requests",
        "edge",
        "operations",
        "two_models",
        "capacities",
        "weights_copied",
        "program",
        "traces",
        "multi_host",
        "destroy",
    ),
    ("refusals", "routing", "load", "allowed_paths", "clients"),
    ("pods_network", "pods_volumes", "pods_life", "pods_weights"),
    ("nodes",),
    ("early_hosts",),
    ("providers_agree",),
    ("conformance",),
    ("monitoring", "alerts"),
    ("autoscaling_adapter",),
    ("autoscaling_idle", "autoscaling_schedule", "autoscaling_blind", "autoscaling"),
    ("front_door",),
    ("front_door_stack",),
    ("front_door_load",),
    ("front_door_keep_paths",),
    ("front_door_priorities",),
    ("front_door_stopped",),
    ("front_door_idle",),
    ("real_server",),
    ("real_load",),
    ("istio",),
    ("istio_door",),
)
"""Files that share a cluster, in their order: the stack (which ``destroy`` ends), a cluster without the program, a
small one, one for the conformance suites, one with a Prometheus, one with GKE's adapter of metrics, one with KEDA, one
with a front door, the stack that has one, under load, with models that stop, with one that is idle, with real
servers, with those under load, with Istio, and with a front door behind it. What shows most comes first, should there
be no time for all. Tests of other files have clusters of their own.
"""

FILES = tuple(name for files in GROUPS for name in files)
LEFT_OUT = "left out, for their time was over"


def file_of(nodeid: str) -> str:
    """``localcloud/tests/real_kubernetes/test_load.py::test_a[b]`` is of ``load``."""
    return PurePath(nodeid.partition("::")[0]).stem.removeprefix("test_")


def group(nodeid: str) -> str:
    """What has to stay in one worker: the first file of the test's group, or the test alone."""
    name = file_of(nodeid)
    return next((files[0] for files in GROUPS if name in files), nodeid)


def rank(nodeid: str) -> int:
    """Where a test's file comes among the others."""
    name = file_of(nodeid)
    return FILES.index(name) if name in FILES else len(FILES)


class Together(LoadScopeScheduling):
    """Gives workers whole groups, in their order."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)


class Deadline:
    """Tests that would begin later than so many minutes after the start are left out, and said to be."""

    def __init__(self, minutes: float | None) -> None:
        self._minutes = minutes
        self._began = time.monotonic()

    def check(self) -> None:
        """Skips the test that is about to begin when the time is over."""
        if self._minutes is not None and time.monotonic() - self._began > 60 * self._minutes:
            pytest.skip(f"{LEFT_OUT} ({self._minutes:g} minutes, MINUTES)")
