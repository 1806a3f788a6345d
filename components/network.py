"""The network."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import pulumi
from pulumi_gcp import compute

from components.fresh_apis import patient
from components.optional import optional, present
from components.refused_changes import before_update, gateway_changed, secondary_ranges_kept
from llmd_gke.gateways.gke import PROXY_SUBNET_PURPOSE
from llmd_gke.manifests import routing
from llmd_gke.settings import NetworkSettings, StackSettings

PODS = "pods"
SERVICES = "services"

NAT_PORTS = (256, 65536)
"""Minimum and maximum number of ports that Cloud NAT reserves per VM. One address has 64,512, enough for 252 VMs
(https://cloud.google.com/nat/docs/ports-and-addresses)."""

SLOW_DELETE = pulumi.CustomTimeouts(delete="30m")
"""Time limit of one deletion. It does not cause retries: if an endpoint group of GKE outlives the cluster, Google
rejects the deletion of the network immediately, and ``llmd-gke destroy`` waits and retries."""


@dataclass(frozen=True, kw_only=True)
class NetworkArgs:
    """``settings``: ranges, or an existing VPC. Names of resources start with ``prefix``. ``exposure``: whether the
    gateway's address is public. ``gateway``: whose it is; GKE's proxies need a subnet. ``protect`` protects the VPC
    against deletion, ``audit`` logs its connections. ``gateway_ip``: the address of an existing Gateway
    (default: one is reserved). ``routes``: those at the gateway, NAMESPACE/NAME.
    """

    settings: NetworkSettings
    project: str
    region: str
    prefix: str
    exposure: Literal["external", "internal"]
    gateway: str
    protect: bool
    audit: bool
    gateway_ip: str | None = None
    routes: Sequence[str] = ()

    @classmethod
    def of(cls, settings: StackSettings) -> Self:
        """Those of a stack."""
        cluster = settings.cluster
        return cls(
            settings=settings.network,
            project=settings.project,
            region=cluster.region,
            prefix=cluster.name,
            exposure=settings.gateway.exposure,
            gateway=settings.gateway.implementation,
            protect=cluster.protect,
            audit=cluster.audit,
            gateway_ip=optional(settings.gateway.existing, lambda gateway: gateway.address),
            routes=routing.at_the_edge(settings),
        )

    @property
    def address_name(self) -> str:
        """Name of the gateway's address. Another kind or subnet has another one, so that both exist for a moment."""
        if self.exposure == "external":
            return f"{self.prefix}-gateway"
        existing = self.settings.existing
        path = "" if existing is None else existing.subnet_path(self.project, self.region)
        return f"{self.prefix}-gateway-{hashlib.sha256(path.encode()).hexdigest()[:6] if path else 'internal'}"


class Network(pulumi.ComponentResource):
    """``llmd-gke:network:Network``: an own VPC for one cluster, or an existing one.

    Creates a VPC, a subnet with two secondary ranges (pods, services), the proxy-only subnet that GKE's regional
    gateways send requests from, a router with NAT for private nodes, and the gateway's reserved regional address. In an
    existing VPC it creates the address, and otherwise only what the settings enable. Outputs: ``network`` and
    ``subnet`` (names, of existing ones paths), ``pods_range`` and ``services_range`` (names), ``address_name``,
    ``gateway_ip`` (known as soon as the address exists, long before a Gateway does), ``proxy_subnet`` (if
    the stack has its own), ``for_nodes`` (what nodes need: their subnet and NAT, as far as the stack creates them).
    """

    network: pulumi.Output[str]
    subnet: pulumi.Output[str]
    pods_range: str
    services_range: str
    gateway_ip: pulumi.Output[str]
    address_name: pulumi.Output[str]
    proxy_subnet: compute.Subnetwork | None = None
    for_nodes: list[pulumi.Resource]

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        settings, existing = args.settings, args.settings.existing
        prefix, region = args.prefix, args.region
        googles = args.gateway == "gke"
        # Proxies that are pods need no subnet of their own.
        own_proxies = googles and (existing is None or existing.proxies == "create")
        place = {"region": region, "proxies": settings.proxies if own_proxies else None}
        if not googles:
            place["gateway"] = args.gateway
        network_name = prefix if existing is None else existing.network_path(args.project)
        hooks = before_update(f"{name}-proxies-kept", gateway_changed(args.routes))
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=hooks))
        super().__init__("llmd-gke:network:Network", name, {"network": network_name, **place}, opts)
        self.for_nodes = []
        if existing is None:
            network, subnet = self._own(name, args)
            self.for_nodes.append(subnet)
            self.network, self.subnet = network.name, subnet.name
            self.pods_range, self.services_range = PODS, SERVICES
            network_id, subnet_id = network.id, subnet.id
        else:
            # Full paths: a bare name would refer to the stack's project, not to the host project.
            network_id = pulumi.Output.from_input(existing.network_path(args.project))
            subnet_id = pulumi.Output.from_input(existing.subnet_path(args.project, region))
            self.network, self.subnet = network_id, subnet_id
            self.pods_range, self.services_range = existing.pods_range, existing.services_range
        if own_proxies:
            self.proxy_subnet = compute.Subnetwork(
                f"{name}-proxies",
                name=f"{prefix}-proxies",
                network=network_id,
                region=region,
                ip_cidr_range=settings.proxies,
                purpose=PROXY_SUBNET_PURPOSE,
                role="ACTIVE",
                # In another region both subnets are replaced. The engine loads the old cluster's provider for the
                # dependents of `nodes`, not for the Gateway, which goes with the proxies (upstream.md).
                opts=pulumi.ResourceOptions(parent=self, depends_on=[*self.for_nodes], custom_timeouts=SLOW_DELETE),
            )
        if existing is None or existing.nat == "create":
            self.for_nodes.append(self._nat(name, args, network_id, None if existing is None else subnet_id))
        if args.gateway_ip is None:
            address = self._address(name, args, subnet_id)
            self.address_name, self.gateway_ip = address.name, address.address
        else:
            self.address_name, self.gateway_ip = (pulumi.Output.from_input(text) for text in ("", args.gateway_ip))
        outputs = {"network": self.network, "subnet": self.subnet, "gatewayIp": self.gateway_ip, **place}
        if self.proxy_subnet:
            outputs["proxies"] = self.proxy_subnet.ip_cidr_range
        self.register_outputs(outputs)

    def _address(self, name: str, args: NetworkArgs, subnet: pulumi.Output[str]) -> compute.Address:
        external = args.exposure == "external"
        return compute.Address(
            f"{name}-gateway",
            name=args.address_name,
            region=args.region,
            address_type="EXTERNAL" if external else "INTERNAL",
            network_tier="STANDARD" if external else None,
            subnetwork=None if external else subnet,
            purpose=None if external else "SHARED_LOADBALANCER_VIP",
            # Google keeps an address while a forwarding rule is on it: the Gateway moves to the new one before the old
            # one goes. Without the option the provider deletes a named resource first.
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=present(self.proxy_subnet),
                hooks=patient(f"{name}-gateway"),
                delete_before_replace=False,
            ),
        )

    def _own(self, name: str, args: NetworkArgs) -> tuple[compute.Network, compute.Subnetwork]:
        prefix, ranges = args.prefix, args.settings
        vpc = compute.Network(
            f"{name}-vpc",
            name=prefix,
            auto_create_subnetworks=False,
            opts=pulumi.ResourceOptions(
                parent=self,
                protect=args.protect,
                custom_timeouts=SLOW_DELETE,
                hooks=patient(f"{name}-vpc"),
            ),
        )
        subnet = compute.Subnetwork(
            f"{name}-nodes",
            name=f"{prefix}-nodes",
            network=vpc.id,
            region=args.region,
            ip_cidr_range=ranges.nodes,
            private_ip_google_access=True,
            log_config=compute.SubnetworkLogConfigArgs(
                aggregation_interval="INTERVAL_10_MIN", flow_sampling=0.5, metadata="INCLUDE_ALL_METADATA"
            )
            if args.audit
            else None,
            secondary_ip_ranges=[
                compute.SubnetworkSecondaryIpRangeArgs(range_name=PODS, ip_cidr_range=ranges.pods),
                compute.SubnetworkSecondaryIpRangeArgs(range_name=SERVICES, ip_cidr_range=ranges.services),
            ],
            opts=pulumi.ResourceOptions(
                parent=self,
                custom_timeouts=SLOW_DELETE,
                hooks=before_update(f"{name}-ranges-kept", secondary_ranges_kept),
            ),
        )
        return vpc, subnet

    def _nat(
        self, name: str, args: NetworkArgs, network: pulumi.Output[str], only: pulumi.Output[str] | None
    ) -> compute.RouterNat:
        """NAT for the whole VPC, or for ``only`` one subnet: an existing VPC may already have NAT for other subnets."""
        prefix, region = args.prefix, args.region
        router = compute.Router(
            f"{name}-router",
            name=f"{prefix}-router",
            network=network,
            region=region,
            opts=pulumi.ResourceOptions(parent=self),
        )
        return compute.RouterNat(
            f"{name}-nat",
            name=f"{prefix}-nat",
            router=router.name,
            region=region,
            nat_ip_allocate_option="AUTO_ONLY",
            # A TPU host opens many connections to few addresses while it pulls images and downloads weights; the
            # default of 64 ports a VM is too few for that.
            enable_dynamic_port_allocation=True,
            min_ports_per_vm=NAT_PORTS[0],
            max_ports_per_vm=NAT_PORTS[1],
            log_config=compute.RouterNatLogConfigArgs(enable=True, filter="ALL" if args.audit else "ERRORS_ONLY"),
            source_subnetwork_ip_ranges_to_nat="LIST_OF_SUBNETWORKS"
            if only is not None
            else "ALL_SUBNETWORKS_ALL_IP_RANGES",
            subnetworks=[compute.RouterNatSubnetworkArgs(name=only, source_ip_ranges_to_nats=["ALL_IP_RANGES"])]
            if only is not None
            else None,
            opts=pulumi.ResourceOptions(parent=self),
        )
