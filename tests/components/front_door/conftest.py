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


@pytest.fixture
def door(record: Record) -> Callable[..., Graph]:
    """A stack with a door, and with changes to its settings."""

    def recorded(**settings: object) -> Graph:
        return record(
            {
                "llmd-gke:gateway": {"exposure": "external", "allowPlainHttp": True},
                "llmd-gke:frontDoor": {"callers": [{"name": "team-a"}, {"name": "batch"}], **settings},
                "llmd-gke:callerKeys": KEYS,
            }
        )

    return recorded
