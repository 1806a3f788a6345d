"""What a write gave back, and what the watch said meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from llmd_common.kubernetes.client import Kube
from llmd_common.kubernetes.fields import Object
from llmd_common.kubernetes.watch import Event
from localcloud.gke_gateway.resources.objects import HTTP_ROUTE, RESOURCES
from localcloud.gke_gateway.watched_objects import Watched


def route(version: int, *, uid: str = "first", paths: str = "old") -> Object:
    meta = {"namespace": "models", "name": "qwen", "uid": uid, "resourceVersion": str(version)}
    return {"kind": HTTP_ROUTE, "metadata": meta, "spec": {"paths": paths}}


def after(*events: Event) -> Watched:
    """What is known once the watch of routes has said these things."""
    watched = Watched(cast("Kube", None), Path("google.json"))
    for event in events:
        watched.kinds[HTTP_ROUTE].take(event)
    return watched


def names(watched: Watched) -> list[Any]:
    return list(watched.snapshot().all(HTTP_ROUTE))


def test_what_a_write_gave_back_counts_at_once() -> None:
    watched = after(Event("ADDED", route(1)))
    watched.kinds[HTTP_ROUTE].put(route(2))
    assert names(watched) == [route(2)]


@pytest.mark.parametrize(
    ("events", "stays"),
    [
        ([Event("MODIFIED", route(10, paths="new"))], [route(10, paths="new")]),
        ([Event("DELETED", route(10))], []),
        ([Event("DELETED", route(10)), Event("ADDED", route(11, uid="second"))], [route(11, uid="second")]),
    ],
)
def test_what_the_watch_said_meanwhile_stays(events: list[Event], stays: list[Object]) -> None:
    watched = after(Event("ADDED", route(1)), *events)
    watched.kinds[HTTP_ROUTE].put(route(9))
    assert names(watched) == stays


def test_nothing_is_reconciled_before_all_kinds_are_listed() -> None:
    async def waits() -> list[bool]:
        watched = Watched(cast("Kube", None), Path("google.json"))
        waiting = asyncio.ensure_future(watched.synced())
        seen: list[bool] = []
        for mirror in watched.kinds.values():
            await asyncio.sleep(0)
            seen.append(waiting.done())
            mirror.take(Event("SYNCED"))
        await waiting
        return seen

    assert asyncio.run(waits()) == [False] * len(RESOURCES)
