"""The network inside the namespaces, set up with pyroute2; no ``ip`` program is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from pyroute2 import IPRoute  # pyright: ignore[reportMissingTypeStubs] - it has none

from localcloud.linux_namespaces.addresses import (
    BRIDGE,
    BRIDGE_ADDRESS,
    BRIDGE_PREFIX,
    CONTROL_PLANE,
    SERVICE_RANGE,
    hardware_address,
)


def netlink() -> Any:
    """Pyroute2's ``IPRoute``, most of which has no types."""
    return IPRoute()


def index(ip: Any, name: str) -> list[int]:
    """The number of the interface of that name, in a list; empty if there is none."""
    return cast("list[int]", list(ip.link_lookup(ifname=name)))


def set_up() -> None:
    """Sets up loopback, the control plane's address, the services' range and the pods' bridge; no default route.

    The services' range is *local*: any process may listen on any ClusterIP, which the service proxy does.
    """
    with netlink() as ip:
        lo = index(ip, "lo")[0]
        ip.link("set", index=lo, state="up")
        ip.addr("add", index=lo, address=CONTROL_PLANE, prefixlen=32)
        ip.route("add", type="local", table=255, scope="host", dst=SERVICE_RANGE, oif=lo)
        # Without an address of its own, a bridge takes one of its interfaces' and changes it as pods come and go:
        # https://github.com/containernetworking/cni/issues/285
        ip.link("add", ifname=BRIDGE, kind="bridge", address=hardware_address(BRIDGE_ADDRESS))
        bridge = index(ip, BRIDGE)[0]
        ip.addr("add", index=bridge, address=BRIDGE_ADDRESS, prefixlen=BRIDGE_PREFIX)
        ip.link("set", index=bridge, state="up")
    # A pod answers from its own address, whichever ClusterIP a request was sent to.
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1\n")


def add_local(address: str) -> None:
    """Adds an address, such as a node's, to loopback, unless it is there."""
    with netlink() as ip:
        if not list(ip.get_addr(address=address)):
            ip.addr("add", index=index(ip, "lo")[0], address=address, prefixlen=32)


def remove_local(address: str) -> None:
    """Removes an address from loopback."""
    with netlink() as ip:
        if list(ip.get_addr(address=address)):
            ip.addr("del", index=index(ip, "lo")[0], address=address, prefixlen=32)
