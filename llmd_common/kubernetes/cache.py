"""The objects of a kind, kept current in memory, for daemons that recompute everything after a change."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterator

from llmd_common.kubernetes.client import Kube, Resource
from llmd_common.kubernetes.fields import Key, Object, key, text
from llmd_common.kubernetes.watch import Event, watch


class Mirror:
    """The objects of one kind. ``changed`` is set with every change; the code that waits for it clears it."""

    def __init__(self, resource: Resource, changed: asyncio.Event | None = None) -> None:
        self.resource = resource
        self.objects: dict[Key, Object] = {}
        self.changed = changed or asyncio.Event()
        self.synced = asyncio.Event()

    def __iter__(self) -> Iterator[Object]:
        return iter(list(self.objects.values()))

    def get(self, name: str, namespace: str = "") -> Object | None:
        """The object of that name, if it exists."""
        return self.objects.get((namespace, name))

    def take(self, event: Event) -> None:
        """Applies one change."""
        if event.type == "SYNCED":
            self.synced.set()
        elif event.type == "DELETED":
            self.objects.pop(key(event.object), None)
        else:
            self.objects[key(event.object)] = event.object
        self.changed.set()

    def put(self, written: Object) -> None:
        """Stores the result of a write, unless the watch has already delivered a newer version.

        The answer to a write and the watch use two connections: in the meantime the object may have been changed,
        deleted, or replaced by another one of the same name.
        """
        present = self.objects.get(key(written))
        if present and text(present, "metadata", "uid") == text(written, "metadata", "uid"):
            self.objects[key(written)] = max(present, written, key=_version)

    async def follow(self, kube: Kube, *, labels: str | None = None, fields: str | None = None) -> None:
        """Follows the API server until cancelled."""
        async with contextlib.aclosing(watch(kube, self.resource, labels=labels, fields=fields)) as events:
            async for event in events:
                self.take(event)


def _version(obj: Object) -> int:
    """The resource version as a number; versions of one kind increase
    (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions).
    """
    return int(text(obj, "metadata", "resourceVersion") or 0)


@contextlib.asynccontextmanager
async def mirrors(kube: Kube, *resources: Resource) -> AsyncGenerator[tuple[asyncio.Event, list[Mirror]], None]:
    """Mirrors of several kinds, listed already, with one common event for changes of any.

    A watching task fails only because of a defect; then the block is cancelled, and the error is raised.
    """
    changed = asyncio.Event()
    made = [Mirror(resource, changed) for resource in resources]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(mirror.follow(kube)) for mirror in made]
        for mirror in made:
            await mirror.synced.wait()
        try:
            yield changed, made
        finally:
            for task in tasks:
                task.cancel()
