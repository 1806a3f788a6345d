"""A view of a kind of Kubernetes objects that stays current.

A watch never ends: it survives closed connections, a restarted API server, a resource version that is too old (410) and
a kind whose CRD is created later, or deleted
(https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from llmd_common.kubernetes.client import Gone, Kube, KubeError, NotFound, Resource, Unreachable, selectors
from llmd_common.kubernetes.fields import Key, Object, key

log = logging.getLogger(__name__)

RELIST_PAUSE_SECONDS = 0.5
"""Seconds before another attempt after a lost connection; doubles up to :data:`LONGEST_PAUSE_SECONDS`."""
LONGEST_PAUSE_SECONDS = 5.0
ABSENT_PAUSE_SECONDS = 1.0
"""Seconds between two attempts to list a kind that is not served."""


@dataclass(frozen=True)
class Event:
    """A change of one object. ``SYNCED`` (no object) follows the first listing."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "SYNCED"]
    object: Object = field(default_factory=dict[str, Any])


async def watch(
    kube: Kube,
    resource: Resource,
    namespace: str | None = None,
    *,
    labels: str | None = None,
    fields: str | None = None,
) -> AsyncGenerator[Event, None]:
    """Yields all objects, then every change, without end. A kind that is not served has no objects.

    After a gap the objects are listed again, and the differences are reported, deletions too.
    """
    cached: dict[Key, Object] = {}
    synced = False
    pause = RELIST_PAUSE_SECONDS
    while True:
        try:
            try:
                objects, version = await kube.listing(resource, namespace, labels, fields)
                served = True
            except NotFound:
                objects, version, served = [], "", False
            for event in _difference(cached, objects):
                yield event
            if not synced:
                synced = True
                yield Event("SYNCED")
            if not served:
                await asyncio.sleep(ABSENT_PAUSE_SECONDS)
                continue
            pause = RELIST_PAUSE_SECONDS
            while True:
                changes = _changes(kube, resource, namespace, labels=labels, fields=fields, version=version)
                async with contextlib.aclosing(changes):
                    async for event, reached in changes:
                        version = reached
                        if event is None:
                            continue
                        where = key(event.object)
                        if event.type == "DELETED":
                            cached.pop(where, None)
                        else:
                            cached[where] = event.object
                        yield event
        except (Gone, NotFound):
            continue
        except (*Unreachable, KubeError, ValueError) as error:
            log.info("watch of %s: %s; again in %.1f s", resource.plural, error or type(error).__name__, pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


async def _changes(
    kube: Kube, resource: Resource, namespace: str | None, *, labels: str | None, fields: str | None, version: str
) -> AsyncGenerator[tuple[Event | None, str], None]:
    """One watch request: changes with the resource version to continue from; it ends when the server closes the
    connection.
    """
    seconds = random.randint(240, 300)  # noqa: S311 - spreads the watches' ends, no secret
    params = {
        **selectors(labels, fields),
        "watch": "1",
        "allowWatchBookmarks": "true",
        "resourceVersion": version,
        "timeoutSeconds": str(seconds),
    }
    url = resource.url(namespace)
    async with kube.open("GET", url, params=params, stream=True, read_seconds=seconds + 15) as response:
        async for line in response.aiter_lines():
            if not line:
                continue
            line_data = cast(Object, json.loads(line))
            obj = cast(Object, line_data["object"])
            if line_data["type"] == "ERROR":
                refused = Gone if obj.get("code") == 410 else KubeError
                raise refused(int(obj.get("code") or 500), str(obj.get("reason")), str(obj.get("message")))
            version = str(obj["metadata"]["resourceVersion"])
            yield (None if line_data["type"] == "BOOKMARK" else Event(line_data["type"], obj)), version


def _difference(cached: dict[Key, Object], objects: list[Object]) -> list[Event]:
    """What changed from ``cached`` (brought up to date) to a new listing. A successor under a name is a new object."""
    events: list[Event] = []
    listed = {key(obj): obj for obj in objects}
    for where, old in list(cached.items()):
        new = listed.get(where)
        if new is None or new["metadata"]["uid"] != old["metadata"]["uid"]:
            events.append(Event("DELETED", cached.pop(where)))
    for where, new in listed.items():
        old = cached.get(where)
        if old is None or old["metadata"]["resourceVersion"] != new["metadata"]["resourceVersion"]:
            events.append(Event("ADDED" if old is None else "MODIFIED", new))
            cached[where] = new
    return events
