"""The network inside the namespaces, as the first process sets it up (with pyroute2; no ``ip`` program is needed)."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, cast

from pyroute2 import IPRoute  # pyright: ignore[reportMissingTypeStubs] - it has none

from localcloud.linux_namespaces.addresses import BRIDGE, BRIDGE_ADDRESS, BRIDGE_PREFIX, CONTROL_PLANE, SERVICE_RANGE


class _Requests(Protocol):
    """The part of pyroute2's ``IPRoute`` that we use, typed: the package has few type hints."""

    def link(self, command: str, **arguments: object) -> object: ...
    def addr(self, command: str, **arguments: object) -> object: ...
    def route(self, command: str, **arguments: object) -> object: ...
    def link_lookup(self, *, ifname: str) -> list[int]: ...
    def close(self) -> None: ...


def set_up() -> None:
    """Sets up loopback, the control plane's address, the services' range and the pods' bridge; no default route.

    The services' range is *local*: any process may listen on any ClusterIP, which the service proxy does.
    """
    ip = cast("_Requests", IPRoute())
    lo = ip.link_lookup(ifname="lo")[0]
    ip.link("set", index=lo, state="up")
    ip.addr("add", index=lo, address=CONTROL_PLANE, prefixlen=32)
    ip.route("add", type="local", table=255, scope="host", dst=SERVICE_RANGE, oif=lo)
    ip.link("add", ifname=BRIDGE, kind="bridge")
    bridge = ip.link_lookup(ifname=BRIDGE)[0]
    ip.addr("add", index=bridge, address=BRIDGE_ADDRESS, prefixlen=BRIDGE_PREFIX)
    ip.link("set", index=bridge, state="up")
    ip.close()
    # A pod answers from its own address, whichever ClusterIP a request was sent to.
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1\n")
