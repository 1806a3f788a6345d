"""What a write gave back, and what the watch said meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import pytest

from localcloud.gke_gateway import watched_objects
from localcloud.gke_gateway.resources.objects import HTTP_ROUTE
from localcloud.gke_gateway.watched_objects import Watched
from localcloud.kubernetes.client import Kube, Object, Resource
from localcloud.kubernetes.watch import Event


def route(version: int, *, uid: str = "first", paths: str = "old") -> Object:
    meta = {"namespace": "models", "name": "qwen", "uid": uid, "resourceVersion": str(version)}
    return {"kind": HTTP_ROUTE, "metadata": meta, "spec": {"paths": paths}}


def after(*events: Event) -> Watched:
    """What is known once the watch of routes has said these things and ended."""

    async def said(kube: Kube, resource: Resource, *, fields: str | None = None) -> AsyncGenerator[Event, None]:
        for event in events:
            yield event

    watched = Watched(cast("Kube", None), Path("google.json"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watched_objects, "watch", said)
        asyncio.run(watched._watch(HTTP_ROUTE))
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
