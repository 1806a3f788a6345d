from __future__ import annotations

import asyncio
from pathlib import Path

from llmd_gke.graph.recording import load
from tests import graphs

ROOT = Path(__file__).resolve().parents[3]


def test_a_program_is_recorded_also_where_an_event_loop_has_come_and_gone() -> None:
    asyncio.run(asyncio.sleep(0))
    assert load(ROOT, "eu4a").outputs["chips"] == 12


def test_resources_are_ordered_after_everything_that_they_wait_for() -> None:
    graph = graphs.load(ROOT, "eu4a", preview=False)
    seen: set[str] = set()
    for node in graph.in_order():
        assert graph.before(node, direct=True) & graph.nodes.keys() <= seen
        seen.add(node.urn)
    assert seen == graph.nodes.keys()
    assert len(seen) > 50
