"""The front door: one address for all models, with keys, limits and priorities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, cast

import pulumi
import pulumi_kubernetes as k8s
from pulumi_gcp import compute

from components.cluster import Cluster
from components.configuration import StackSecrets
from components.edge import Edge
from components.fresh_apis import patient
from components.kubernetes_objects import create
from components.network import Network
from components.optional import optional, present
from components.platform import Platform
from llmd_gke.catalog.registries import Mirrors
from llmd_gke.json_types import JsonObject
from llmd_gke.manifests.front_door.armor import rules
from llmd_gke.manifests.front_door.edge import PREFIX
from llmd_gke.manifests.objects import front_door as objects
from llmd_gke.settings import (
    AccessSettings,
    FrontDoorSettings,
    GatewaySettings,
    ModelSettings,
    NetworkSettings,
    StackSettings,
)
from llmd_gke.settings.secret_keys import IAP_SECRET


@dataclass(frozen=True, kw_only=True)
class FrontDoorArgs:
    """``gateway``, ``network`` and ``gateway_ip``: where requests come from. The controllers wait for
    ``cert_manager``, which signs for AI Gateway's webhook, and only the route for ``edge``, the load balancer's
    Gateway, where the same program makes them; they are deleted with ``cluster``. Charts are in ``chart_folder`` or
    their registries, replaced by ``mirrors``. Cloud Armor's policy is in ``region``; its name starts with
    ``prefix``. ``network_policies``: whether AI Gateway's namespace is closed; that of the proxies, Redis and the
    limiter is, in any case. ``system_nodes``: how many nodes for the proxies always run. ``scrape_seconds``: how often
    usage is collected (default: never). ``caller_keys``: each key's name and value, of callers with keys;
    ``iap_secret``: the secret of IAP's OAuth client, for a door behind IAP.
    """

    settings: FrontDoorSettings
    gateway: GatewaySettings
    network: NetworkSettings
    models: Sequence[ModelSettings]
    chart_folder: str | None
    mirrors: Mirrors
    private_nodes: bool
    gateway_ip: pulumi.Input[str]
    provider: k8s.Provider
    prefix: str
    region: str
    network_policies: bool
    system_nodes: int = 1
    cluster: pulumi.Resource | None = None
    cert_manager: pulumi.Resource | None = None
    edge: pulumi.Resource | None = None
    scrape_seconds: int | None = None
    caller_keys: pulumi.Input[Mapping[str, pulumi.Input[str]]] | None = None
    iap_secret: pulumi.Input[str] | None = None

    @classmethod
    def of(
        cls,
        settings: StackSettings,
        secrets: StackSecrets,
        *,
        network: Network,
        cluster: Cluster,
        platform: Platform,
        edge: Edge | None,
    ) -> Self | None:
        """Those of a stack with ``frontDoor``."""
        door, monitoring = settings.front_door, settings.monitoring
        if door is None:
            return None
        return cls(
            settings=door,
            gateway=settings.gateway,
            network=settings.network,
            models=settings.models,
            chart_folder=settings.platform.chart_folder,
            mirrors=settings.mirrors,
            private_nodes=settings.cluster.private_nodes,
            gateway_ip=network.gateway_ip,
            provider=cluster.provider,
            cluster=cluster.control_plane,
            cert_manager=platform.cert_manager,
            edge=edge,
            prefix=settings.cluster.name,
            region=settings.cluster.region,
            scrape_seconds=monitoring.interval_seconds if monitoring.scrape else None,
            network_policies=settings.platform.network_policies,
            system_nodes=settings.cluster.system_pool.min_nodes,
            caller_keys=secrets.caller_keys if door.uses_keys else None,
            iap_secret=secrets.named(IAP_SECRET) if settings.access.iap is not None else None,
        )


class FrontDoor(pulumi.ComponentResource):
    """``llmd-gke:front-door:FrontDoor``: Envoy Gateway and Envoy AI Gateway behind the load balancer.

    Charts and CRDs, the Gateway with its Envoys, the callers' keys and limits, NetworkPolicies, Redis where limits are
    counted in the cluster; then the one route at the load balancer, which is made once Envoys run, because the load
    balancer takes no change at all while a route has no backend. Models bring their own routes. Output: ``base_url``
    for clients of OpenAI's API.
    """

    base_url: pulumi.Output[str]

    def __init__(self, name: str, args: FrontDoorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:front-door:FrontDoor", name, None, opts)
        access = args.settings.access or AccessSettings()
        armor = None
        if access.uses_cloud_armor:
            policy = compute.RegionSecurityPolicy(
                f"{name}-cloud-armor",
                name=f"{args.prefix}-front-door",
                region=args.region,
                type="CLOUD_ARMOR",
                description="Who may send requests to the front door",
                rules=cast("Sequence[compute.RegionSecurityPolicyRuleArgsDict]", rules(access)),
                opts=pulumi.ResourceOptions(parent=self, hooks=patient(f"{name}-cloud-armor")),
            )
            armor = policy.name
        kept = objects.kept(
            args.settings,
            network=args.network,
            load_balancer=args.gateway,
            models=args.models,
            private_nodes=args.private_nodes,
            network_policies=args.network_policies,
            chart_folder=args.chart_folder,
            mirrors=args.mirrors,
        )
        # The SDK resolves an Output wherever it stands in a manifest.
        serving = objects.serving(
            args.settings,
            load_balancer=args.gateway,
            models=args.models,
            mirrors=args.mirrors,
            scrape_seconds=args.scrape_seconds,
            security_policy=cast("str | None", armor),
            caller_keys=cast("JsonObject | None", optional(args.caller_keys, pulumi.Output.secret)),
            iap_secret=cast("str | None", optional(args.iap_secret, pulumi.Output.secret)),
            system_nodes=args.system_nodes,
        )
        child = pulumi.ResourceOptions(parent=self, provider=args.provider)
        with_cluster = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(deleted_with=args.cluster))
        programmed = pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(create="20m", delete="20m"))
        outside = {objects.CERT_MANAGER: present(args.cert_manager), objects.EDGE: present(args.edge)}
        made = create(name, [objects.NAMESPACE], child, earlier=outside)
        made = create(name, kept, with_cluster, earlier=made)
        create(name, serving, child, earlier=made, special={objects.GATEWAY: programmed})
        host = args.gateway_ip if args.gateway.domain is None else args.gateway.domain
        self.base_url = pulumi.Output.concat(f"{args.gateway.scheme}://", host, PREFIX)
        self.register_outputs({"baseUrl": self.base_url})
