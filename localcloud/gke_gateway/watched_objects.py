"""The present state of everything the controller reads, kept by watches."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from localcloud.gke_gateway import addresses
from localcloud.gke_gateway.resources.objects import RESOURCES, SECRET, Key, World, key, uid
from localcloud.kubernetes.client import Kube, Object
from localcloud.kubernetes.watch import watch
from localcloud.providers.google.references import CLUSTER
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.providers.protocol.values import JsonObject, dig, text

log = logging.getLogger(__name__)

CLOUD_PAUSE = 0.5
"""Seconds between two looks at the Google stand-in's file."""

_FIELDS = {SECRET: "type=kubernetes.io/tls"}
"""Only certificates are read: no other Secret reaches this process."""


@dataclass
class Watched:
    """Watches every kind. ``changed`` is set after each change of anything, as soon as all kinds are known."""

    kube: Kube
    cloud: Path
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    _kinds: dict[str, dict[Key, JsonObject]] = field(default_factory=dict[str, dict[Key, JsonObject]])
    _synced: set[str] = field(default_factory=set[str])
    _reserved: dict[str, str] = field(default_factory=dict[str, str])
    _gateway_api: asyncio.Event = field(default_factory=asyncio.Event)

    def _tell(self) -> None:
        # A half-known cluster looks like one whose Gateways were deleted.
        if len(self._synced) == len(RESOURCES):
            self.changed.set()

    def world(self) -> World:
        """A snapshot."""
        return World({kind: dict(found) for kind, found in self._kinds.items()}, dict(self._reserved))

    def put(self, kind: str, obj: Object) -> None:
        """Takes note of what a write gave back, ahead of the watch, unless the watch was ahead of it.

        The answer to a write and the watch come by two connections: by now the object may be newer, gone, or another
        one of the same name.
        """
        found, written = self._kinds.setdefault(kind, {}), cast("JsonObject", obj)
        known = found.get(key(written))
        if known is not None and uid(known) == uid(written) and _version(known) <= _version(written):
            found[key(written)] = written

    async def gateway_api(self) -> None:
        """Waits until a cluster of the Google stand-in has the Gateway API on."""
        await self._gateway_api.wait()

    async def watch_cloud(self) -> None:
        """Follows the Google stand-in's file: reserved addresses, and whether the Gateway API is on."""
        seen: tuple[int, int] | None = None
        while True:
            stamp = _stamp(self.cloud)
            if stamp != seen:
                seen = stamp
                self._read_cloud()
            await asyncio.sleep(CLOUD_PAUSE)

    def _read_cloud(self) -> None:
        try:
            self._reserved = addresses.reserved(self.cloud)
            on = _gateway_api_is_on(CloudFile(self.cloud).read())
        except ValueError as error:
            log.error("%s", error)
            return
        if on:
            self._gateway_api.set()
        self._tell()

    async def watch_kinds(self) -> None:
        """Follows every kind, forever."""
        async with asyncio.TaskGroup() as group:
            for kind in RESOURCES:
                group.create_task(self._watch(kind))

    async def _watch(self, kind: str) -> None:
        found = self._kinds.setdefault(kind, {})
        async for event in watch(self.kube, RESOURCES[kind], fields=_FIELDS.get(kind)):
            if event.type == "SYNCED":
                self._synced.add(kind)
            elif event.type == "DELETED":
                found.pop(key(cast("JsonObject", event.object)), None)
            else:
                # Items of a list come without a kind.
                obj = cast("JsonObject", {**event.object, "kind": kind})
                found[key(obj)] = obj
            self._tell()


def _version(obj: JsonObject) -> int:
    """Versions of one kind grow
    (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions).
    """
    return int(text(obj, "metadata", "resourceVersion") or 0)


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_ino


def _gateway_api_is_on(content: JsonObject) -> bool:
    """https://cloud.google.com/kubernetes-engine/docs/how-to/deploying-gateways#enable-gateway."""
    clusters = dig(content, "objects", CLUSTER)
    return any(
        text(record, "inputs", "gatewayApiConfig", "channel") == "CHANNEL_STANDARD"
        for record in (clusters.values() if isinstance(clusters, dict) else ())
    )
