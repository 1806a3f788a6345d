"""Takes a node out of the cluster: cordons it, evicts its pods, and deletes it once they are gone.

A reclaimed host gives its pods less time, and disruption budgets do not count: GKE gives pods that are not the system's
15 of the 30 seconds' notice (https://docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms). There they become
``Failed`` and stay; here they are deleted, which their controllers answer alike.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable

from llmd_common.kubernetes.client import LEASES, NODES, PODS, Kube, KubeError, NotFound, Unreachable
from llmd_common.kubernetes.fields import Object, text
from localcloud.nodes.heartbeats import LEASE_NAMESPACE

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""Seconds between two checks of the node's pods."""
EVICTION_SECONDS = 3600.0
"""Seconds for which GKE respects disruption budgets."""
RECLAIMED_SECONDS = 15
"""The longest that a pod on a reclaimed host has to end."""


async def drain(kube: Kube, node: Object, pods: Iterable[Object], *, reclaimed: bool = False) -> None:
    """Drains and deletes a node. ``pods`` is read repeatedly: it must be a view that stays current."""
    name = str(node["metadata"]["name"])
    ends = time.monotonic() + EVICTION_SECONDS
    while True:
        try:
            await kube.patch(NODES, name, {"spec": {"unschedulable": True}})
            left = [pod for pod in pods if text(pod, "spec", "nodeName") == name]
            for pod in left:
                if reclaimed:
                    await _end(kube, pod)
                else:
                    await _evict(kube, pod, force=time.monotonic() > ends)
            if not left:
                await kube.delete(NODES, name, uid=str(node["metadata"]["uid"]))
                await kube.delete(LEASES, name, LEASE_NAMESPACE)
                return
        except NotFound:
            return
        except (KubeError, *Unreachable) as error:
            log.info("drain of %s: %s", name, error)
        await asyncio.sleep(LOOK_SECONDS)


async def _end(kube: Kube, pod: Object) -> None:
    meta = pod["metadata"]
    given = meta.get("deletionGracePeriodSeconds")  # of a pod that is being deleted
    if given is not None and int(given) <= RECLAIMED_SECONDS:
        return
    own = int(pod["spec"].get("terminationGracePeriodSeconds") or 0)
    name, namespace, uid = str(meta["name"]), str(meta["namespace"]), str(meta["uid"])
    await kube.delete(PODS, name, namespace, grace_seconds=min(own, RECLAIMED_SECONDS), uid=uid)


async def _evict(kube: Kube, pod: Object, *, force: bool) -> None:
    meta = pod["metadata"]
    namespace, name = str(meta["namespace"]), str(meta["name"])
    if meta.get("deletionTimestamp"):
        return
    if force:
        await kube.delete(PODS, name, namespace, uid=str(meta["uid"]))
        return
    eviction: Object = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": namespace},
    }
    try:
        await kube.request("POST", PODS.url(namespace, name, "eviction"), body=eviction)
    except NotFound:
        return
    except KubeError as error:
        if error.code != 429:  # a disruption budget forbids it for now
            raise
