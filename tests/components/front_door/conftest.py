"""What the tests of the front door share: its recorded stack, and stacks with changes to its settings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmd_gke.graph.recording import Graph
from tests.components.conftest import DOOR, Record, of_stack

KEYS = {"team-a": "a" * 40, "batch": "b" * 40}


@pytest.fixture(scope="module", params=[True, False], ids=["preview", "up"])
def graph(request: pytest.FixtureRequest, rehearsal: None) -> Graph:
    return of_stack(DOOR, request.param, shipped=True)


BARE: dict[str, object] = {
    "llmd-gke:gateway": {"exposure": "internal"},
    "llmd-gke:frontDoor": {
        "callers": [{"name": "team-a", "requestsPerMinute": 5}, {"name": "batch"}],
        "keepPaths": True,
    },
    "llmd-gke:callerKeys": KEYS,
    "llmd-gke:monitoring": {"scrape": False},
    "llmd-gke:platform": {"networkPolicies": False},
}
PLAIN: dict[str, object] = {
    "llmd-gke:gateway": {"exposure": "external", "allowPlainHttp": True},
    "llmd-gke:frontDoor": {"callers": [{"name": "team-a"}, {"name": "batch"}]},
    "llmd-gke:callerKeys": KEYS,
}


@pytest.fixture
def bare(record: Record) -> Graph:
    """A stack with a door that keeps old paths, without platform policies and scraping."""
    return record(BARE)


@pytest.fixture
def door(record: Record) -> Callable[[], Graph]:
    """A stack with a door for two callers without limits."""
    return lambda: record(PLAIN)
