"""The network."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.sdk import compute
from llmd_gke.settings import StackSettings

PODS = "pods"
SERVICES = "services"

SLOW_DELETE = pulumi.CustomTimeouts(delete="30m")
"""GKE collects network endpoint groups and firewall rules after the cluster is gone; until then Google refuses to
delete the network. Retries must outlast that (hashicorp/terraform-provider-google#5948)."""


@dataclass(frozen=True)
class NetworkArgs:
    """The stack's settings: ranges, region, and whether the reserved address is public. Names
    start as the cluster's.
    """

    settings: StackSettings


class Network(pulumi.ComponentResource):
    """``llmd-gke:network:Network``: an own VPC for one cluster.

    Makes a VPC, a subnet with two secondary ranges (pods, services), the proxy-only subnet that GKE's regional
    gateways send requests from, a router with NAT for private nodes, and the gateway's reserved regional address.
    Outputs: ``network`` and ``subnet`` (names), ``address_name``, ``gateway_ip`` (known as soon as the address
    exists, long before a Gateway does).
    """

    network: pulumi.Output[str]
    subnet: pulumi.Output[str]
    gateway_ip: pulumi.Output[str]
    address_name: pulumi.Output[str]

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:network:Network", name, None, opts)
        ranges = args.settings.network
        prefix = args.settings.cluster.name
        region = args.settings.cluster.region
        external = args.settings.gateway.exposure == "external"
        vpc = compute.Network(
            f"{name}-vpc",
            name=prefix,
            auto_create_subnetworks=False,
            opts=pulumi.ResourceOptions(parent=self, custom_timeouts=SLOW_DELETE),
        )
        subnet = compute.Subnetwork(
            f"{name}-nodes",
            name=f"{prefix}-nodes",
            network=vpc.id,
            region=region,
            ip_cidr_range=ranges.nodes,
            private_ip_google_access=True,
            secondary_ip_ranges=[
                compute.SubnetworkSecondaryIpRangeArgs(range_name=PODS, ip_cidr_range=ranges.pods),
                compute.SubnetworkSecondaryIpRangeArgs(range_name=SERVICES, ip_cidr_range=ranges.services),
            ],
            opts=pulumi.ResourceOptions(parent=self, custom_timeouts=SLOW_DELETE),
        )
        proxies = compute.Subnetwork(
            f"{name}-proxies",
            name=f"{prefix}-proxies",
            network=vpc.id,
            region=region,
            ip_cidr_range=ranges.proxies,
            purpose="REGIONAL_MANAGED_PROXY",
            role="ACTIVE",
            opts=pulumi.ResourceOptions(parent=self, custom_timeouts=SLOW_DELETE),
        )
        router = compute.Router(
            f"{name}-router",
            name=f"{prefix}-router",
            network=vpc.id,
            region=region,
            opts=pulumi.ResourceOptions(parent=self),
        )
        compute.RouterNat(
            f"{name}-nat",
            name=f"{prefix}-nat",
            router=router.name,
            region=region,
            nat_ip_allocate_option="AUTO_ONLY",
            source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
            opts=pulumi.ResourceOptions(parent=self),
        )
        address = compute.Address(
            f"{name}-gateway",
            name=f"{prefix}-gateway",
            region=region,
            address_type="EXTERNAL" if external else "INTERNAL",
            network_tier="STANDARD" if external else None,
            subnetwork=None if external else subnet.id,
            purpose=None if external else "SHARED_LOADBALANCER_VIP",
            opts=pulumi.ResourceOptions(parent=self, depends_on=[proxies]),
        )
        self.network = vpc.name
        self.subnet = subnet.name
        self.address_name = address.name
        self.gateway_ip = address.address
        self.register_outputs({"network": self.network, "subnet": self.subnet, "gateway_ip": self.gateway_ip})
