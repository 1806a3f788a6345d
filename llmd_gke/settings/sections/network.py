"""The network."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from llmd_gke.settings.sections.base import Cidr, Section, Word

Owned = Literal["existing", "create"]


class ExistingNetworkSettings(Section):
    """Names of an existing VPC and subnet, not created by the program."""

    network: str
    """Name of the VPC."""
    subnet: str
    """Name of the subnet, in the cluster's region."""
    pods_range: str = "pods"
    """Name of the subnet's secondary range for pods (default: ``pods``)."""
    services_range: str = "services"
    """Name of the subnet's secondary range for Services (default: ``services``)."""
    host_project: str | None = None
    """ID of the Shared VPC host project (default: the stack's own project)."""
    proxies: Owned = "existing"
    """Whether the region's proxy-only subnet already exists (``existing``, default) or the program creates it
    (``create``)."""
    nat: Owned = "existing"
    """Whether a Cloud NAT for the subnet already exists (``existing``, default) or the program creates it
    (``create``)."""

    def network_path(self, project: str) -> str:
        """``projects/P/global/networks/N`` of the VPC, in the host project or else in the stack's ``project``."""
        return f"projects/{self.host_project or project}/global/networks/{self.network}"

    def subnet_path(self, project: str, region: str) -> str:
        """``projects/P/regions/R/subnetworks/N`` of the subnet, in the host project or else in the stack's own."""
        return f"projects/{self.host_project or project}/regions/{region}/subnetworks/{self.subnet}"


class EgressSettings(Section):
    """What model pods may reach outside the cluster, see ``docs/network.md``."""

    mode: Literal["open", "names", "proxy"] = "open"
    """``open`` (default): port 443 of public addresses; ``names``: port 443 of the hosts that weights come from, by
    FQDNNetworkPolicy; ``proxy``: the proxy only."""
    names: tuple[str, ...] = Field(default=(), strict=False)
    """Further hosts for mode ``names``, e.g. ``models.example.com``; ``*`` in ``*.example.com`` matches one label
    (default: none)."""
    proxy: str | None = None
    """The proxy, ``http://ADDRESS:PORT``; only with mode ``proxy``."""
    no_proxy: tuple[Word, ...] = Field(default=(), strict=False)
    """Hosts that are reached directly even if ``proxy`` is set (default: none)."""
    ranges: tuple[Cidr, ...] = Field(default=(), strict=False)
    """IPv4 ranges that pods may reach on port 443 in every mode, e.g. of a mirror inside the VPC (default: none)."""


class NetworkSettings(Section):
    """IPv4 ranges of the VPC that the program creates, or an existing VPC."""

    nodes: Cidr = "10.0.0.0/20"
    """IPv4 range of the nodes (default: 10.0.0.0/20)."""
    pods: Cidr = "10.4.0.0/14"
    """Secondary IPv4 range of the pods, /21 or larger (default: 10.4.0.0/14)."""
    services: Cidr = "10.8.0.0/20"
    """Secondary IPv4 range of the Services (default: 10.8.0.0/20)."""
    proxies: Cidr = "10.9.0.0/23"
    """IPv4 range of the proxy-only subnet, /26 or larger, /23 recommended (default: 10.9.0.0/23); with ``existing``,
    the range of its proxy-only subnet. Istio's Gateway needs none."""
    existing: ExistingNetworkSettings | None = None
    """Use an existing VPC (default: the program creates one); ``nodes``, ``pods`` and ``services`` must not be set
    then."""
    egress: EgressSettings = Field(default_factory=EgressSettings)
    """What model pods may reach outside the cluster."""
