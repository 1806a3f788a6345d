"""The events that `kubectl describe gateway` shows on GKE: each success and each refusal, once."""

from __future__ import annotations

import contextlib
import uuid
from dataclasses import dataclass, field

from llmd_common.kubernetes.client import EVENTS, Kube, KubeError, Unreachable
from llmd_common.kubernetes.fields import Key, key, name, namespace, text
from localcloud.gke_gateway.conditions import timestamp
from localcloud.gke_gateway.resources.objects import GATEWAY, GATEWAY_GROUP, full_name, generation
from localcloud.gke_gateway.translate import Translation

COMPONENT = "sc-gateway-controller"
"""``From`` of GKE's events."""


@dataclass
class Events:
    """Writes an event about a Gateway whenever its outcome differs from the last one."""

    kube: Kube
    _recorded: dict[Key, tuple[int, str]] = field(default_factory=dict[Key, tuple[int, str]])

    async def record_events(self, translation: Translation) -> None:
        """Writes an event if the outcome has changed; errors are ignored."""
        gateway, refusal = translation.gateway, translation.refusal
        message = f"SYNC on {full_name(gateway)} was a success"
        if refusal is not None:
            message = f'failed to translate Gateway "{full_name(gateway)}": {refusal.message}'
        if self._recorded.get(key(gateway)) == (generation(gateway), message):
            return
        self._recorded[key(gateway)] = (generation(gateway), message)
        now = timestamp()
        with contextlib.suppress(KubeError, *Unreachable):
            await self.kube.create(
                EVENTS,
                {
                    "apiVersion": "v1",
                    "kind": "Event",
                    "metadata": {"name": f"{name(gateway)}.{uuid.uuid4().hex[:16]}", "namespace": namespace(gateway)},
                    "involvedObject": {
                        "apiVersion": f"{GATEWAY_GROUP}/v1",
                        "kind": GATEWAY,
                        "namespace": namespace(gateway),
                        "name": name(gateway),
                        "uid": text(gateway, "metadata", "uid"),
                    },
                    "type": "Warning" if refusal else "Normal",
                    "reason": "SYNC",
                    "message": message[:1024],
                    "source": {"component": COMPONENT},
                    "firstTimestamp": now,
                    "lastTimestamp": now,
                    "count": 1,
                },
            )
