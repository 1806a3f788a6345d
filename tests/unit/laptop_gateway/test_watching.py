"""What a write gave back, and what the watch said meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import pytest

from llmd_gke.laptop.gateway.objects import HTTP_ROUTE
from llmd_gke.laptop.gateway.watching import Watched
from llmd_gke.laptop.kube import Event, Kube, Object, Resource


def route(version: int, *, uid: str = "first", paths: str = "old") -> Object:
    meta = {"namespace": "models", "name": "qwen", "uid": uid, "resourceVersion": str(version)}
    return {"kind": HTTP_ROUTE, "metadata": meta, "spec": {"paths": paths}}


class Watching:
    """An API server whose watch says these things and ends."""

    def __init__(self, *events: Event) -> None:
        self._events = events

    async def watch(self, resource: Resource, fields: str | None = None) -> AsyncGenerator[Event, None]:
        del resource, fields
        for event in self._events:
            yield event


def after(*events: Event) -> Watched:
    """What is known after these events about routes."""
    watched = Watched(cast("Kube", Watching(*events)), Path("google.json"))
    asyncio.run(cast("Any", watched)._watch(HTTP_ROUTE))
    return watched


def known(watched: Watched) -> list[Any]:
    return list(watched.world().all(HTTP_ROUTE))


def test_what_a_write_gave_back_counts_at_once() -> None:
    watched = after(Event("ADDED", route(1)))
    watched.put(HTTP_ROUTE, route(2))
    assert known(watched) == [route(2)]


@pytest.mark.parametrize(
    ("said", "stays"),
    [
        ([Event("MODIFIED", route(10, paths="new"))], [route(10, paths="new")]),
        ([Event("DELETED", route(10))], []),
        ([Event("DELETED", route(10)), Event("ADDED", route(11, uid="second"))], [route(11, uid="second")]),
    ],
)
def test_what_the_watch_said_meanwhile_stays(said: list[Event], stays: list[Object]) -> None:
    watched = after(Event("ADDED", route(1)), *said)
    watched.put(HTTP_ROUTE, route(9))
    assert known(watched) == stays
