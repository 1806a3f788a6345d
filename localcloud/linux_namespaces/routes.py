"""The networks that a process can reach."""

from __future__ import annotations

import ipaddress
from pathlib import Path

from localcloud.linux_namespaces.addresses import BRIDGE


def ways_out(pid: int | str) -> list[str]:
    """Networks beyond this machine that a process could reach: none, in a laptop cloud.

    Included are all routes of interfaces other than the bridge and loopback, and all routes through a gateway.
    """
    routes: list[str] = []
    for line in Path(f"/proc/{pid}/net/route").read_text().splitlines()[1:]:
        interface, target, gateway = line.split()[:3]
        pods = interface == BRIDGE or interface.startswith("veth")
        if int(gateway, 16) or not pods:
            address = ipaddress.ip_address(int(target, 16).to_bytes(4, "little"))
            routes.append(f"{address} via {interface}")
    return routes
