"""The current state of everything that the controller reads, kept up to date by watches."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from llmd_common.kubernetes.cache import Mirror
from llmd_common.kubernetes.client import Kube
from localcloud.gke_gateway import addresses
from localcloud.gke_gateway.resources.objects import RESOURCES, SECRET, ClusterSnapshot
from localcloud.google_api.rules.references import CLUSTER
from localcloud.product import has_managed_adapter, scaling
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.providers.protocol.values import JsonValue, dig, text

log = logging.getLogger(__name__)

CLOUD_PAUSE_SECONDS = 0.5
"""Seconds between two looks at the Google stand-in's file."""

_FIELDS = {SECRET: "type=kubernetes.io/tls"}
"""Only certificates are read: no other Secret reaches this process."""


class Watched:
    """Watches every kind. ``changed`` is set after each change of anything."""

    def __init__(self, kube: Kube, cloud: Path) -> None:
        self.changed = asyncio.Event()
        self.kinds = {kind: Mirror(resource, self.changed) for kind, resource in RESOURCES.items()}
        self._kube, self._cloud = kube, cloud
        self._reserved: dict[str, str] = {}
        self._gateway_api = asyncio.Event()
        self._managed_metrics = asyncio.Event()

    def snapshot(self) -> ClusterSnapshot:
        """A snapshot of the current state."""
        return ClusterSnapshot(
            {kind: dict(mirror.objects) for kind, mirror in self.kinds.items()}, dict(self._reserved)
        )

    async def synced(self) -> None:
        """Waits until all kinds are listed: a half-listed cluster looks like one whose Gateways were deleted."""
        for mirror in self.kinds.values():
            await mirror.synced.wait()

    async def gateway_api(self) -> None:
        """Waits until a cluster of the Google stand-in has the Gateway API on."""
        await self._gateway_api.wait()

    async def managed_metrics(self) -> None:
        """Waits until a cluster of the Google stand-in has the managed adapter of metrics."""
        await self._managed_metrics.wait()

    async def watch_cloud(self) -> None:
        """Follows the Google stand-in's file: reserved addresses, and what a cluster has."""
        seen: tuple[int, int] | None = None
        while True:
            stamp = _stamp(self._cloud)
            if stamp != seen:
                seen = stamp
                self._read_cloud()
            await asyncio.sleep(CLOUD_PAUSE_SECONDS)

    def _read_cloud(self) -> None:
        try:
            self._reserved = addresses.reserved(self._cloud)
            content = CloudFile(self._cloud).read()
        except ValueError as error:
            log.error("%s", error)
            return
        clusters = dig(content, "objects", CLUSTER)
        for cluster in clusters.values() if isinstance(clusters, dict) else ():
            if _has_gateway_api(cluster):
                self._gateway_api.set()
            if _has_managed_metrics(cluster):
                self._managed_metrics.set()
        self.changed.set()

    async def watch_kinds(self) -> None:
        """Follows every kind, forever."""
        async with asyncio.TaskGroup() as group:
            for kind, mirror in self.kinds.items():
                group.create_task(mirror.follow(self._kube, fields=_FIELDS.get(kind)))


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_ino


def _has_gateway_api(cluster: JsonValue) -> bool:
    """Whether a cluster has the Gateway API enabled.

    https://cloud.google.com/kubernetes-engine/docs/how-to/deploying-gateways#enable-gateway
    """
    return text(cluster, "inputs", "gatewayApiConfig", "channel") == "CHANNEL_STANDARD"


def _has_managed_metrics(cluster: JsonValue) -> bool:
    """Whether a cluster has the managed adapter of metrics: by its version, and by its profile of autoscaling.

    https://docs.cloud.google.com/kubernetes-engine/docs/how-to/autoscale-using-metrics
    """
    profile = text(cluster, "inputs", "podAutoscaling", "hpaProfile")
    return profile == scaling.HPA_PROFILE and has_managed_adapter(text(cluster, "inputs", "minMasterVersion"))
