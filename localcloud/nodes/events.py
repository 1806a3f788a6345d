"""Events, as `kubectl describe` shows them; a repeated one is counted."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time

from llmd_common.kubernetes.client import EVENTS, Kube, KubeError, Unreachable
from llmd_common.kubernetes.fields import Object
from localcloud.nodes.states import now

log = logging.getLogger(__name__)

REPEAT_SECONDS = 10.0
"""Seconds before the same event is recorded again."""


class Recorder:
    """Writes events of one component; errors are ignored."""

    def __init__(self, kube: Kube, component: str) -> None:
        self._kube = kube
        self._component = component
        self._seen: dict[str, tuple[float, int]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def record_event(self, obj: Object, reason: str, message: str, *, warning: bool = False) -> None:
        """Records an event about an object in the background."""
        meta = obj["metadata"]
        digest = hashlib.sha256(f"{meta['uid']} {reason} {message}".encode()).hexdigest()[:16]
        last, count = self._seen.get(digest, (-REPEAT_SECONDS, 0))
        if time.monotonic() - last < REPEAT_SECONDS:
            return
        where = f"{obj.get('kind')} {meta.get('namespace') or ''}/{meta['name']}"
        log.info("%s: %s: %s", where, reason, message)
        self._seen[digest] = (time.monotonic(), count + 1)
        task = asyncio.create_task(self._write(obj, reason, message, warning=warning, digest=digest, count=count + 1))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _write(self, obj: Object, reason: str, message: str, *, warning: bool, digest: str, count: int) -> None:
        meta = obj["metadata"]
        namespace = str(meta.get("namespace") or "default")
        name = f"{meta['name']}.{digest}"
        event: Object = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": {
                "apiVersion": obj.get("apiVersion") or "v1",
                "kind": obj.get("kind") or "Pod",
                "name": meta["name"],
                "namespace": meta.get("namespace"),
                "uid": meta["uid"],
            },
            "reason": reason,
            "message": message[:1024],
            "type": "Warning" if warning else "Normal",
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "firstTimestamp": now(),
            "lastTimestamp": now(),
            "count": 1,
        }
        try:
            if count > 1:
                await self._kube.patch(EVENTS, name, {"count": count, "lastTimestamp": now()}, namespace)
            else:
                await self._kube.create(EVENTS, event, namespace)
        except (KubeError, *Unreachable) as error:
            log.debug("event lost: %s", error)
