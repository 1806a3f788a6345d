"""Addresses of Services of type LoadBalancer, which GKE's controller of Services assigns there.

A Service gets the address that it asks for, such as one that the emulator of Google has reserved, or a free one. The
service proxy listens there as on ClusterIPs. An address stays on loopback, as those of Gateways do: it may be another's
by now.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from llmd_common.kubernetes.cache import Mirror
from llmd_common.kubernetes.client import SERVICES, Kube, KubeError, Unreachable
from llmd_common.kubernetes.fields import Key, Object, each, key, text
from localcloud.linux_namespaces import network

log = logging.getLogger(__name__)

PREFIXES = {"": "203.0.113.", "Internal": "10.0.0."}
"""Ranges of addresses by the value of :data:`ANNOTATION`, as those of Gateways (``gke_gateway/addresses.py``)."""
ANNOTATION = "networking.gke.io/load-balancer-type"


def ingress(service: Object) -> list[str]:
    """The addresses at which a Service of type LoadBalancer can be reached from outside."""
    if text(service, "spec", "type") != "LoadBalancer":
        return []
    return [text(one, "ip") for one in each(service, "status", "loadBalancer", "ingress")]


def assigned(services: Iterable[Object]) -> dict[Key, str]:
    """The address of each Service of type LoadBalancer; a second one that asks for the same address has none."""
    balanced = [one for one in services if text(one, "spec", "type") == "LoadBalancer"]
    asked = {key(one): text(one, "spec", "loadBalancerIP") or "".join(ingress(one)[:1]) for one in balanced}
    result: dict[Key, str] = {}
    for one in sorted(balanced, key=lambda one: (not ingress(one), not asked[key(one)], key(one))):
        prefix = PREFIXES.get(text(one, "metadata", "annotations", ANNOTATION), PREFIXES[""])
        taken = {*asked.values(), *result.values()}
        # From the high end: reserved ones are spread over the range.
        free = (f"{prefix}{host}" for host in range(254, 1, -1) if f"{prefix}{host}" not in taken)
        address = asked[key(one)] or next(free, "")
        if address and address not in result.values():
            result[key(one)] = address
    return result


class LoadBalancers:
    """Writes the addresses of Services, and makes this machine have them."""

    def __init__(self, client: Kube, services: Mirror) -> None:
        self._client = client
        self._services = services
        self._up: set[str] = set()

    async def show(self) -> None:
        """Assigns what is missing. What the API server rejects is tried again by the next call."""
        for (namespace, name), address in assigned(self._services).items():
            if address not in self._up:
                await asyncio.to_thread(network.add_local, address)  # pyroute2 has an event loop of its own
                self._up.add(address)
            if ingress(self._services.objects[namespace, name]) != [address]:
                status: Object = {"loadBalancer": {"ingress": [{"ip": address}]}}
                try:
                    self._services.put(await self._client.patch_status(SERVICES, name, status, namespace))
                except (*Unreachable, KubeError) as error:
                    log.warning("%s/%s has no address yet: %s", namespace, name, error)
