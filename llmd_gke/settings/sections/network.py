"""The network."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from llmd_gke.settings.sections.base import Cidr, Shape, Word

Owned = Literal["existing", "create"]


class ExistingNetworkSettings(Shape):
    """A VPC and a subnet that somebody else made, by name.

    ``pods_range`` and ``services_range`` are the subnet's secondary ranges. ``host_project`` is the project that
    shares the VPC (Shared VPC). ``proxies``, ``nat``: whether the region's proxy-only subnet and a NAT for the subnet
    exist already (default), or are made here.
    """

    network: str
    """The VPC's name."""
    subnet: str
    """The subnet's name, in the cluster's region."""
    pods_range: str = "pods"
    services_range: str = "services"
    host_project: str | None = None
    proxies: Owned = "existing"
    nat: Owned = "existing"

    def network_path(self, project: str) -> str:
        """The VPC as Google takes it from any project; ``project`` is the stack's."""
        return f"projects/{self.host_project or project}/global/networks/{self.network}"

    def subnet_path(self, project: str, region: str) -> str:
        """The subnet as Google takes it from any project; ``project`` is the stack's."""
        return f"projects/{self.host_project or project}/regions/{region}/subnetworks/{self.subnet}"


class EgressSettings(Shape):
    """What model pods may reach outside of the cluster, see ``docs/network.md``.

    ``mode``: ``open`` is port 443 of public addresses, ``names`` port 443 of the hosts that weights come from (GKE's
    FQDNNetworkPolicy), ``proxy`` the proxy only. ``names`` are hosts beside those, ``*.example.com`` for one label.
    ``proxy`` is ``http://ADDRESS:PORT``; ``no_proxy`` are hosts that downloads reach without it. ``ranges`` are open on
    port 443 in every mode, for a mirror or endpoint inside the VPC.
    """

    mode: Literal["open", "names", "proxy"] = "open"
    names: tuple[str, ...] = Field(default=(), strict=False)
    proxy: str | None = None
    no_proxy: tuple[Word, ...] = Field(default=(), strict=False)
    ranges: tuple[Cidr, ...] = Field(default=(), strict=False)


class NetworkSettings(Shape):
    """IPv4 ranges of the VPC. The proxy-only range is what GKE's regional gateways send requests from.

    With ``existing`` no VPC is made: ``nodes``, ``pods`` and ``services`` are the existing subnet's business, and
    ``proxies`` says the range of the proxy-only subnet, which NetworkPolicies admit.
    """

    nodes: Cidr = "10.0.0.0/20"
    """Range of the nodes."""
    pods: Cidr = "10.4.0.0/14"
    """Secondary range of the pods."""
    services: Cidr = "10.8.0.0/20"
    """Secondary range of the Services. ``proxies`` is the range of the proxy-only subnet."""
    proxies: Cidr = "10.9.0.0/23"
    existing: ExistingNetworkSettings | None = None
    egress: EgressSettings = Field(default_factory=EgressSettings)
