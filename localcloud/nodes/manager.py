"""Pods that the scheduler has put on our nodes: one worker each, for as long as the pod exists."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging

from llmd_common.kubernetes.cache import Mirror
from llmd_common.kubernetes.client import PODS, Kube
from llmd_common.kubernetes.fields import each, part, text
from llmd_common.kubernetes.watch import Event, watch
from localcloud.nodes import nodes
from localcloud.nodes.logs import LogFile
from localcloud.nodes.pod import Host, PodNode, PodWorker

log = logging.getLogger(__name__)


class PodManager:
    """Starts, updates and ends the workers. ``pods``: the mirror that it keeps for others as well."""

    def __init__(self, host: Host, node_mirror: Mirror, pods: Mirror) -> None:
        self._host = host
        self._nodes = node_mirror
        self._pods = pods
        self._workers: dict[str, tuple[PodWorker, asyncio.Task[None]]] = {}
        self._addresses: dict[str, str] = {}

    async def run(self, kube: Kube) -> None:
        """Runs the workers until cancelled; then all processes end at once, and the pod objects stay."""
        try:
            async with contextlib.aclosing(watch(kube, PODS)) as events:
                async for event in events:
                    self._pods.take(event)
                    if event.type != "SYNCED":
                        self._take(event)
        finally:
            tasks = [task for _, task in self._workers.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def contents_changed(self, namespace: str) -> None:
        """Notifies the workers that a Secret or ConfigMap of that namespace has changed."""
        for worker, _ in self._workers.values():
            if worker.obj["metadata"]["namespace"] == namespace:
                worker.content_changed.set()

    def log(self, namespace: str, pod: str, container: str, previous: bool) -> LogFile | None:
        """The log of a pod's container; ``None`` if there is none."""
        for worker, _ in self._workers.values():
            meta = worker.obj["metadata"]
            if (meta["namespace"], meta["name"]) == (namespace, pod):
                return worker.log(container, previous=previous)
        return None

    def retry(self) -> None:
        """Starts pods whose node was not known yet when the pod appeared."""
        for obj in self._pods:
            if str(obj["metadata"]["uid"]) not in self._workers:
                self._take(Event("MODIFIED", obj))

    def _take(self, event: Event) -> None:
        obj = event.object
        uid = str(obj["metadata"]["uid"])
        running = self._workers.get(uid)
        if event.type == "DELETED":
            if running:
                running[0].remove()
            return
        if running:
            running[0].update(obj)
            return
        node = self._node(text(obj, "spec", "nodeName"))
        if node is None:
            return
        address = self._address(uid, node, text(obj, "status", "podIP"))
        worker = PodWorker(self._host, obj, node, address)
        task = asyncio.create_task(self._work(uid, worker), name=f"pod {obj['metadata']['name']}")
        self._workers[uid] = (worker, task)

    async def _work(self, uid: str, worker: PodWorker) -> None:
        try:
            await worker.run()
        except asyncio.CancelledError:
            raise
        except Exception:
            # An error in one pod must not affect others: the pod stays as it is until it is deleted.
            log.exception("pod %s", worker.obj["metadata"]["name"])
        finally:
            self._workers.pop(uid, None)
            self._addresses.pop(uid, None)
        # A pod that was deleted by force is gone; with any other, its name may come again with the next event.

    def _node(self, name: str) -> PodNode | None:
        obj = self._nodes.get(name) if name else None
        if obj is None or not text(obj, "metadata", "annotations", nodes.POOL_ANNOTATION):
            return None
        address = next(one["address"] for one in each(obj, "status", "addresses") if one["type"] == "InternalIP")
        return PodNode(name, str(address), part(obj, "status", "allocatable"))

    def _address(self, uid: str, node: PodNode, before: str) -> str:
        """The address that the pod had under an earlier kubelet, or a free one of the node's range.

        The first of the range is left to a gateway, as is usual.
        """
        taken = set(self._addresses.values()) | {
            text(obj, "status", "podIP") for obj in self._pods if str(obj["metadata"]["uid"]) != uid
        }
        obj = self._nodes.get(node.name)
        whole = ipaddress.ip_network(str(part(obj or {}, "spec")["podCIDR"]))
        free = [str(one) for one in list(whole.hosts())[1:] if str(one) not in taken]
        address = before if before in free else free[0]
        self._addresses[uid] = address
        return address
