"""Addresses of Services of type LoadBalancer, which GKE's controller of Services assigns there.

A Service gets the address that it asks for, such as one that the emulator of Google has reserved, or a free one. The
service proxy listens there as on ClusterIPs. Loopback keeps an address, as it does those of Gateways: by the time the
Service goes, it may be another's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field

from llmd_common.kubernetes.cache import Mirror
from llmd_common.kubernetes.client import SERVICES, Kube, KubeError, Unreachable
from llmd_common.kubernetes.fields import Key, Object, each, key, text
from localcloud.linux_namespaces import network

log = logging.getLogger(__name__)

ANNOTATION = "networking.gke.io/load-balancer-type"
EXTERNAL_RANGE, INTERNAL_RANGE = "203.0.113.", "10.0.0."
"""Those of Gateways (``gke_gateway/addresses.py``)."""


def ingress(service: Object) -> list[str]:
    """The addresses at which a Service of type LoadBalancer can be reached from outside."""
    balanced = text(service, "spec", "type") == "LoadBalancer"
    return [text(one, "ip") for one in each(service, "status", "loadBalancer", "ingress")] if balanced else []


def assigned(services: Iterable[Object]) -> dict[Key, str]:
    """The address of each Service of type LoadBalancer; a second one that asks for the same address has none."""
    balanced = [one for one in services if text(one, "spec", "type") == "LoadBalancer"]
    asked = {key(one): text(one, "spec", "loadBalancerIP") or "".join(ingress(one)[:1]) for one in balanced}
    result: dict[Key, str] = {}
    for one in sorted(balanced, key=lambda one: (not ingress(one), not asked[key(one)], key(one))):
        is_internal = text(one, "metadata", "annotations", ANNOTATION) == "Internal"
        # From the high end: reserved ones are spread over the range.
        own = (f"{INTERNAL_RANGE if is_internal else EXTERNAL_RANGE}{host}" for host in range(254, 1, -1))
        free = (address for address in own if address not in {*asked.values(), *result.values()})
        if (address := asked[key(one)] or next(free, "")) not in ("", *result.values()):
            result[key(one)] = address
    return result


@dataclass
class LoadBalancers:
    """Writes the addresses of Services, and makes this machine have them."""

    client: Kube
    services: Mirror
    _up: set[str] = field(default_factory=set[str])

    async def show(self) -> None:
        """Assigns what is missing. What the API server rejects is tried again by the next call."""
        for (namespace, name), address in assigned(self.services).items():
            if address not in self._up:
                await asyncio.to_thread(network.add_local, address)  # pyroute2 has an event loop of its own
                self._up.add(address)
            if ingress(self.services.objects[namespace, name]) != [address]:
                status: Object = {"loadBalancer": {"ingress": [{"ip": address}]}}
                try:
                    self.services.put(await self.client.patch_status(SERVICES, name, status, namespace))
                except (*Unreachable, KubeError) as error:
                    log.warning("%s/%s has no address yet: %s", namespace, name, error)
