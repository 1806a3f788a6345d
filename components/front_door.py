"""The front door: one address for all models, with keys, limits and priorities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self, cast

import pulumi
from pulumi_gcp import compute
from pulumi_kubernetes.apps import v1 as apps
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.helm import v3 as helm
from pulumi_kubernetes.meta import v1 as meta

from components.cluster import Cluster
from components.configuration import StackSecrets
from components.custom_resources import NAMESPACE_TIMES, after, custom_resource, network_policy
from components.edge import Edge
from components.network import Network
from components.optional import optional, present
from components.platform import Platform
from llmd_gke.catalog import front_door
from llmd_gke.catalog.registries import Mirrors
from llmd_gke.manifests import charts, pod_security
from llmd_gke.manifests.front_door import armor as armoring
from llmd_gke.manifests.front_door import edge, firewall, gateway, listing, metrics, redis, releases, stopped
from llmd_gke.manifests.types import JsonObject
from llmd_gke.settings import (
    AccessSettings,
    FrontDoorSettings,
    GatewaySettings,
    ModelSettings,
    NetworkSettings,
    StackSettings,
)
from llmd_gke.settings.secret_keys import IAP_SECRET
from llmd_gke.settings.sections.front_door import IN_CLUSTER


@dataclass(frozen=True, kw_only=True)
class FrontDoorArgs:
    """``gateway``, ``network`` and ``gateway_ip``: where requests come from. The controllers wait for ``cert_manager``,
    which signs for AI Gateway's webhook; only the route waits for ``edge``, the load balancer's Gateway. Charts are in
    ``chart_folder`` or their registries, replaced by ``mirrors``. Cloud Armor's policy is in ``region``; its name
    starts with ``prefix``. ``network_policies``: whether the controllers' namespaces are closed; the proxies are, in
    any case. ``scrape_seconds``: how often usage is collected (default: never). ``caller_keys``: each key's name and
    value, of callers with keys; ``iap_secret``: the secret of IAP's OAuth client, for a door behind IAP.
    """

    settings: FrontDoorSettings
    gateway: GatewaySettings
    network: NetworkSettings
    models: Sequence[ModelSettings]
    chart_folder: str | None
    mirrors: Mirrors
    private_nodes: bool
    gateway_ip: pulumi.Input[str]
    cluster: Cluster
    cert_manager: pulumi.Resource
    edge: Edge
    prefix: str
    region: str
    network_policies: bool
    scrape_seconds: int | None = None
    caller_keys: pulumi.Input[Mapping[str, str]] | None = None
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
        edge: Edge,
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
            cluster=cluster,
            cert_manager=platform.cert_manager,
            edge=edge,
            prefix=settings.cluster.name,
            region=settings.cluster.region,
            scrape_seconds=monitoring.interval_seconds if monitoring.scrape else None,
            network_policies=settings.platform.network_policies,
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
        self._name, self._args = name, args
        door, cluster = args.settings, args.cluster
        child = pulumi.ResourceOptions(parent=self, provider=cluster.provider)
        spaces = self._namespaces(child)
        controllers = self._controllers(child, spaces)
        inside = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=controllers))
        proxies = custom_resource(f"{name}-proxies", gateway.envoy_proxy(door, args.mirrors), inside)
        class_ = custom_resource(f"{name}-class", gateway.gateway_class(), after(inside, proxies))
        policies = [
            custom_resource(f"{name}-clients", gateway.clients(door), inside),
            custom_resource(f"{name}-script", gateway.script(door, args.models), inside),
            custom_resource(f"{name}-limits", gateway.traffic(door, args.models), inside),
        ]
        keys = optional(args.caller_keys, lambda given: self._keys(given, inside))
        policies.append(custom_resource(f"{name}-callers", gateway.callers(door), after(inside, *present(keys))))
        namespaces = tuple(dict.fromkeys(model.namespace for model in args.models))
        listening = custom_resource(
            f"{name}-gateway",
            gateway.gateway(namespaces),
            pulumi.ResourceOptions.merge(
                after(inside, class_, *policies),
                pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(create="20m", delete="20m")),
            ),
        )
        refusal = custom_resource(f"{name}-models-refusal", listing.refusal(), inside)
        answers, rules = [refusal], list[JsonObject]()
        if stopped.everything(args.models):
            answers.append(custom_resource(f"{name}-models-stopped", stopped.answer(), inside))
            rules.append(stopped.rule(edge.PREFIX))
        custom_resource(f"{name}-models", listing.route(*rules), after(inside, *answers, listening))
        guards = self._access(inside)
        custom_resource(f"{name}-route", edge.route(args.gateway), after(inside, args.edge, listening, *guards))
        if args.scrape_seconds is not None:
            network_policy(f"{name}-allow-collectors", metrics.network_policy(), inside)
            custom_resource(f"{name}-usage", metrics.proxies(args.scrape_seconds), inside)
        host = args.gateway_ip if args.gateway.domain is None else args.gateway.domain
        self.base_url = pulumi.Output.concat(f"{args.gateway.scheme}://", host, edge.PREFIX)
        self.register_outputs({"baseUrl": self.base_url})

    def _access(self, inside: pulumi.ResourceOptions) -> list[pulumi.Resource]:
        """The policies of the Service at the load balancer, with what they name: Cloud Armor's policy, IAP's secret.

        Returns those that the route has to wait for: no request may come before them.
        """
        access, name = self._args.settings.access or AccessSettings(), self._name
        armor: pulumi.Output[str] | None = None
        first: list[pulumi.Resource] = []
        if access.uses_cloud_armor:
            policy = compute.RegionSecurityPolicy(
                f"{name}-cloud-armor",
                name=f"{self._args.prefix}-front-door",
                region=self._args.region,
                type="CLOUD_ARMOR",
                description="Who may send requests to the front door",
                rules=cast("Sequence[compute.RegionSecurityPolicyRuleArgsDict]", armoring.rules(access)),
                opts=pulumi.ResourceOptions(parent=self),
            )
            armor = policy.name
        if self._args.iap_secret is not None:
            entry = {front_door.IAP_SECRET_ENTRY: pulumi.Output.secret(self._args.iap_secret)}
            first.append(
                core.Secret(
                    f"{name}-iap-client",
                    metadata={"name": front_door.IAP_SECRET, "namespace": front_door.PROXIES_NAMESPACE},
                    type="Opaque",
                    string_data=entry,
                    opts=inside,
                )
            )
        # The SDK resolves an Output wherever it stands in a specification.
        made = {
            key: custom_resource(f"{name}-{key}", spec, after(inside, *first) if first else inside)
            for key, spec in edge.policies(self._args.models, access.iap, cast("str | None", armor)).items()
        }
        return [] if self._args.settings.access is None else [*made.values()]

    def _namespaces(self, child: pulumi.ResourceOptions) -> list[pulumi.Resource]:
        """The door's own, and those of both controllers, which are closed but for what they need."""
        args = self._args
        # The controllers' namespaces go with the cluster, after everything that the controllers have to finalise.
        kept = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(deleted_with=args.cluster.control_plane))
        named: dict[str, tuple[str, pod_security.Level, pulumi.ResourceOptions]] = {
            "namespace": (front_door.NAMESPACE, "restricted", child),
            "proxies-namespace": (front_door.PROXIES_NAMESPACE, "baseline", kept),
            "ai-namespace": (front_door.AI_NAMESPACE, "baseline", kept),
        }
        spaces: list[pulumi.Resource] = [
            core.Namespace(
                f"{self._name}-{key}",
                metadata={"name": space, "labels": pod_security.labels(level)},
                opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(custom_timeouts=NAMESPACE_TIMES)),
            )
            for key, (space, level, opts) in named.items()
        ]
        closed = {
            key: policy
            for key, policy in firewall.policies(
                args.settings,
                args.network,
                [model.namespace for model in args.models],
                private_nodes=args.private_nodes,
            ).items()
            if args.network_policies or key == firewall.PROXIES
        }
        inside = pulumi.ResourceOptions.merge(kept, pulumi.ResourceOptions(depends_on=spaces))
        guards = [network_policy(f"{self._name}-{key}", policy, inside) for key, policy in closed.items()]
        return [*spaces, *guards]

    def _controllers(self, child: pulumi.ResourceOptions, spaces: Sequence[pulumi.Resource]) -> list[pulumi.Resource]:
        """Both controllers, after the CRDs that they look for when they start."""
        args, door = self._args, self._args.settings
        folder, mirrors = args.chart_folder, args.mirrors
        kept = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(deleted_with=args.cluster.control_plane))

        def release(spec: charts.Release, *earlier: pulumi.Resource) -> pulumi.Resource:
            return helm.Release(
                f"{self._name}-{spec.name.removeprefix('front-door-')}",
                name=spec.name,
                chart=spec.chart,
                version=spec.version,
                namespace=spec.namespace,
                values=spec.values,
                timeout=900,
                opts=after(kept, *spaces, *earlier),
            )

        first = [release(releases.crds()), release(releases.ai_crds(folder, mirrors)), args.cert_manager]
        address = redis.ADDRESS if door.redis == IN_CLUSTER else door.redis
        if door.has_limits and door.redis == IN_CLUSTER:
            first += self._redis(after(kept, *spaces))
        ai_gateway = release(releases.ai_gateway(folder, mirrors), *first)
        return [ai_gateway, release(releases.gateway(door, folder, mirrors, redis=address), *first)]

    def _redis(self, opts: pulumi.ResourceOptions) -> list[pulumi.Resource]:
        service, deployment = redis.service(), redis.deployment(self._args.mirrors)
        return [
            core.Service(
                f"{self._name}-redis-service",
                metadata=cast("meta.ObjectMetaArgsDict", service["metadata"]),
                spec=cast("core.ServiceSpecArgsDict", service["spec"]),
                opts=opts,
            ),
            apps.Deployment(
                f"{self._name}-redis",
                metadata=cast("meta.ObjectMetaArgsDict", deployment["metadata"]),
                spec=cast("apps.DeploymentSpecArgsDict", deployment["spec"]),
                opts=opts,
            ),
        ]

    def _keys(self, keys: pulumi.Input[Mapping[str, str]], opts: pulumi.ResourceOptions) -> pulumi.Resource:
        """The callers' keys. Envoy Gateway follows the Secret: a new key is valid at once, and nothing restarts.

        The cluster's provider updates it (``ClusterArgs.mutable_secrets``). Without the Secret, Envoy Gateway 1.8.3
        answers 500 on every route (``internal/gatewayapi/securitypolicy.go`` ``buildAPIKeyAuth``).
        """
        return core.Secret(
            f"{self._name}-keys",
            metadata={"name": front_door.KEYS_SECRET, "namespace": front_door.NAMESPACE},
            type="Opaque",
            string_data=pulumi.Output.secret(keys),
            opts=opts,
        )
