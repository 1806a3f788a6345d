"""Maps ClusterIPs, addresses of load balancers, and ports to endpoints, from Services and EndpointSlices.

As kube-proxy chooses (https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#conditions): ready
endpoints; where none is left, those that are ending and still serve. TCP only; session affinity is not imitated.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from llmd_common.kubernetes.fields import Object, each, part, text, texts
from localcloud.service_network.load_balancers import ingress

Address: TypeAlias = tuple[str, int]
SERVICE_NAME = "kubernetes.io/service-name"


def table(services: Iterable[Object], slices: Iterable[Object]) -> dict[Address, tuple[Address, ...]]:
    """An address of a Service and a port to its endpoints, in a stable order; ports without endpoints are left out."""
    by_service: dict[tuple[str, str], list[Object]] = {}
    for one in slices:
        meta = one["metadata"]
        key = (str(meta["namespace"]), text(meta, "labels", SERVICE_NAME))
        by_service.setdefault(key, []).append(one)
    routes: dict[Address, tuple[Address, ...]] = {}
    for service in services:
        meta = service["metadata"]
        own = by_service.get((str(meta["namespace"]), str(meta["name"])), [])
        addresses = [*texts(service, "spec", "clusterIPs"), *ingress(service)]
        addresses = [ip for ip in addresses if ip != "None" and ":" not in ip]
        for port in each(service, "spec", "ports"):
            if text(port, "protocol") not in ("", "TCP"):
                continue
            if endpoints := endpoints_of(own, text(port, "name")):
                routes |= {(address, int(port["port"])): endpoints for address in addresses}
    return routes


def endpoints_of(slices: Iterable[Object], port_name: str) -> tuple[Address, ...]:
    """The endpoints of one port of a Service."""
    ready: set[Address] = set()
    ending: set[Address] = set()
    for one in slices:
        if text(one, "addressType") not in ("", "IPv4"):
            continue
        ports = [
            int(port["port"]) for port in each(one, "ports") if text(port, "name") == port_name and port.get("port")
        ]
        for endpoint in each(one, "endpoints"):
            state = part(endpoint, "conditions")
            targets = {(address, port) for address in texts(endpoint, "addresses") for port in ports}
            if state.get("ready") is not False:
                ready |= targets
            elif state.get("serving") and state.get("terminating"):
                ending |= targets
    return tuple(sorted(ready or ending))
