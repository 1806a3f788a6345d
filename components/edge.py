"""The edge: the Gateway, its certificate and its TLS policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, cast

import pulumi
import pulumi_kubernetes as k8s
from pulumi_gcp import compute
from pulumi_kubernetes.core import v1 as core

from components.cluster import Cluster
from components.configuration import StackSecrets
from components.custom_resources import NAMESPACE_TIMES, custom_resource
from components.network import Network
from llmd_gke.manifests import naming, pod_security, routing
from llmd_gke.settings import GatewaySettings, StackSettings, TlsSettings


@dataclass(frozen=True, kw_only=True)
class EdgeArgs:
    """``namespaces`` may attach routes, ``address_name`` is the reserved regional address. The SSL policy's name starts
    with ``prefix``. ``certificate`` and ``certificate_key``, in PEM format: those of TLS settings with ``from_config``.
    """

    settings: GatewaySettings
    namespaces: Sequence[str]
    address_name: pulumi.Output[str]
    region: str
    prefix: str
    provider: k8s.Provider
    certificate: pulumi.Input[str] | None = None
    certificate_key: pulumi.Input[str] | None = None

    @classmethod
    def of(cls, settings: StackSettings, secrets: StackSecrets, *, network: Network, cluster: Cluster) -> Self:
        """Those of a stack."""
        tls = settings.gateway.tls
        return cls(
            settings=settings.gateway,
            namespaces=settings.routed_namespaces,
            address_name=network.address_name,
            region=settings.cluster.region,
            prefix=settings.cluster.name,
            provider=cluster.provider,
            certificate=secrets.named("tlsCertificate") if tls is not None and tls.from_config else None,
            certificate_key=secrets.named("tlsKey") if tls is not None and tls.from_config else None,
        )


class Edge(pulumi.ComponentResource):
    """``llmd-gke:edge:Edge``: the Gateway in a namespace of its own, at the reserved address.

    It waits until GKE has programmed the load balancer. Only the models' namespaces may attach routes. Depending on the
    settings, it also creates the certificate's Secret, a regional SSL policy with the GCPGatewayPolicy that names it,
    and the redirect from HTTP.
    """

    def __init__(self, name: str, args: EdgeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:edge:Edge", name, None, opts)
        settings = args.settings
        namespace = core.Namespace(
            f"{name}-namespace",
            metadata={"name": naming.GATEWAY_NAMESPACE, "labels": pod_security.labels("restricted")},
            opts=pulumi.ResourceOptions(parent=self, provider=args.provider, custom_timeouts=NAMESPACE_TIMES),
        )
        inside = pulumi.ResourceOptions(parent=self, provider=args.provider, depends_on=[namespace])
        first: list[pulumi.Resource] = [namespace]
        ssl_policy = None
        if settings.tls is not None:
            ssl_policy = self._ssl_policy(name, args, settings.tls)
        if args.certificate is not None and args.certificate_key is not None:
            first.append(
                core.Secret(
                    f"{name}-certificate",
                    metadata={"name": naming.TLS_SECRET, "namespace": naming.GATEWAY_NAMESPACE},
                    type="kubernetes.io/tls",
                    string_data={
                        "tls.crt": pulumi.Output.secret(args.certificate),
                        "tls.key": pulumi.Output.secret(args.certificate_key),
                    },
                    opts=inside,
                )
            )
        gateway = custom_resource(
            f"{name}-gateway",
            # The SDK resolves an Output at any depth of a specification.
            routing.gateway(settings, cast("str", args.address_name), args.namespaces),
            pulumi.ResourceOptions(
                parent=self,
                provider=args.provider,
                depends_on=first,
                custom_timeouts=pulumi.CustomTimeouts(create="30m", delete="30m"),
            ),
        )
        policy = routing.gateway_policy(settings, cast("str | None", ssl_policy))
        if policy is not None:
            custom_resource(f"{name}-gateway-policy", policy, inside)
        redirect = routing.redirect(settings)
        if redirect is not None:
            on_gateway = pulumi.ResourceOptions(parent=self, provider=args.provider, depends_on=[gateway])
            custom_resource(f"{name}-redirect", redirect, on_gateway)
        self.register_outputs({})

    def _ssl_policy(self, name: str, args: EdgeArgs, tls: TlsSettings) -> pulumi.Output[str] | None:
        if tls.minimum_version is None:
            return None
        policy = compute.RegionSslPolicy(
            f"{name}-ssl-policy",
            name=f"{args.prefix}-gateway",
            region=args.region,
            min_tls_version=f"TLS_{tls.minimum_version.replace('.', '_')}",
            profile=tls.profile,
            opts=pulumi.ResourceOptions(parent=self),
        )
        return policy.name
