"""Heartbeats of nodes: renews their leases, and less often their conditions."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from llmd_common.kubernetes.client import LEASES, NODES, Kube, KubeError, Unreachable
from llmd_common.kubernetes.fields import Object, each
from localcloud.nodes import nodes
from localcloud.nodes.states import now

log = logging.getLogger(__name__)

LEASE_RENEWAL_SECONDS, LEASE_DURATION_SECONDS = 10.0, 40
STATUS_SECONDS = 300.0
"""Kubernetes' defaults of ``nodeStatusReportFrequency`` and of the lease."""
LEASE_NAMESPACE = "kube-node-lease"


class Heartbeats:
    """Renews leases and conditions of nodes."""

    def __init__(self, kube: Kube) -> None:
        self._kube = kube
        self._reported: dict[str, float] = {}

    async def run(self, ours: Callable[[], Iterable[Object]]) -> None:
        """Renews leases and conditions of all nodes until cancelled."""
        while True:
            for one in ours():
                try:
                    await self.beat(one)
                except (KubeError, *Unreachable) as error:
                    log.info("heartbeat of %s: %s", one["metadata"]["name"], error)
            await asyncio.sleep(LEASE_RENEWAL_SECONDS)

    async def beat(self, node: Object) -> None:
        """Renews the lease, and if due the conditions, of one node."""
        name = str(node["metadata"]["name"])
        owner: Object = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
        lease: Object = {
            "apiVersion": LEASES.group_version,
            "kind": "Lease",
            "metadata": {"name": name, "namespace": LEASE_NAMESPACE, "ownerReferences": [owner]},
            "spec": {
                "holderIdentity": name,
                "leaseDurationSeconds": LEASE_DURATION_SECONDS,
                "renewTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            },
        }
        await self._kube.apply(LEASES, lease, manager="kubelet")
        ready = next((c for c in each(node, "status", "conditions") if c["type"] == "Ready"), None)
        unwell = ready is None or ready["status"] != "True"
        if unwell or time.monotonic() - self._reported.get(name, 0.0) > STATUS_SECONDS:
            since = now() if unwell or ready is None else str(ready["lastTransitionTime"])
            await self._kube.patch_status(NODES, name, {"conditions": nodes.conditions(since)}, strategic=True)
            self._reported[name] = time.monotonic()
