"""The edge: the Gateway, its certificate and its TLS policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import pulumi
import pulumi_kubernetes as k8s
from pulumi_gcp import compute
from pulumi_kubernetes.core import v1 as core

from components.custom_resources import NAMESPACE_TIMES, custom_resource
from llmd_gke.manifests import naming, pod_security, routing
from llmd_gke.settings import GatewaySettings, TlsSettings


@dataclass(frozen=True)
class EdgeArgs:
    """``namespaces`` may attach routes, ``address_name`` is the reserved regional address. The SSL policy's name starts
    with ``prefix``. A certificate ``from_config`` is read from the program's ``tlsCertificate`` and ``tlsKey``.
    """

    settings: GatewaySettings
    namespaces: Sequence[str]
    address_name: pulumi.Output[str]
    region: str
    prefix: str
    provider: k8s.Provider


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
            if settings.tls.from_config:
                first.append(_certificate(f"{name}-certificate", inside))
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


def _certificate(name: str, opts: pulumi.ResourceOptions) -> core.Secret:
    config = pulumi.Config()
    return core.Secret(
        name,
        metadata={"name": naming.TLS_SECRET, "namespace": naming.GATEWAY_NAMESPACE},
        type="kubernetes.io/tls",
        string_data={"tls.crt": config.require_secret("tlsCertificate"), "tls.key": config.require_secret("tlsKey")},
        opts=opts,
    )
