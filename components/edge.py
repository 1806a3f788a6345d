"""The edge: the Gateway, its certificate and its TLS policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, cast

import pulumi
import pulumi_kubernetes as k8s
from pulumi_gcp import compute

from components.cluster import Cluster
from components.configuration import StackSecrets
from components.fresh_apis import patient
from components.kubernetes_objects import create
from components.network import Network
from components.optional import present
from components.platform import Platform
from llmd_gke.json_types import JsonObject
from llmd_gke.manifests import gateway as manifests
from llmd_gke.settings import GatewaySettings, StackSettings, TlsSettings


@dataclass(frozen=True, kw_only=True)
class EdgeArgs:
    """``namespaces`` may attach routes, ``address`` is the reserved regional one: its name for GKE, its IP for Istio.
    The SSL policy's name starts with ``prefix``. ``below``: what the load balancer runs in, its cluster and the subnet
    of its proxies. ``cert_manager`` makes an issuer's certificate. ``certificate`` and ``certificate_key``, in PEM
    format: those of TLS settings with ``from_config``.
    """

    settings: GatewaySettings
    namespaces: Sequence[str]
    address: pulumi.Output[str]
    region: str
    prefix: str
    provider: k8s.Provider
    below: Sequence[pulumi.Resource]
    cert_manager: pulumi.Resource
    certificate: pulumi.Input[str] | None = None
    certificate_key: pulumi.Input[str] | None = None
    scrape_seconds: int | None = None

    @classmethod
    def of(
        cls,
        settings: StackSettings,
        secrets: StackSecrets,
        *,
        network: Network,
        cluster: Cluster,
        platform: Platform,
    ) -> Self | None:
        """Those of a stack with a Gateway of its own."""
        if settings.gateway.existing is not None:
            return None
        tls = settings.gateway.tls
        return cls(
            settings=settings.gateway,
            namespaces=settings.routed_namespaces,
            address=network.address_name if settings.gateway.is_googles else network.gateway_ip,
            region=settings.cluster.region,
            prefix=settings.cluster.name,
            provider=cluster.provider,
            cert_manager=platform.cert_manager,
            below=present(cluster.control_plane, network.proxy_subnet),
            certificate=secrets.named("tlsCertificate") if tls is not None and tls.from_config else None,
            certificate_key=secrets.named("tlsKey") if tls is not None and tls.from_config else None,
            scrape_seconds=settings.monitoring.interval_seconds if settings.monitoring.scrape else None,
        )


class Edge(pulumi.ComponentResource):
    """``llmd-gke:edge:Edge``: the Gateway in a namespace of its own, at the reserved address.

    It waits until the load balancer is programmed. Only the models' namespaces may attach routes. Depending on the
    settings, it also creates the certificate's Secret, a regional SSL policy with the GCPGatewayPolicy that names it,
    and the redirect from HTTP.
    """

    def __init__(self, name: str, args: EdgeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:edge:Edge", name, None, opts)
        certificate = None
        if args.certificate is not None and args.certificate_key is not None:
            certificate = {"tls.crt": args.certificate, "tls.key": args.certificate_key}
            certificate = {key: pulumi.Output.secret(value) for key, value in certificate.items()}
        tls = args.settings.tls
        # The SDK resolves an Output at any depth of a manifest.
        objects = manifests.objects(
            args.settings,
            args.namespaces,
            address=cast("str", args.address),
            ssl_policy=cast("str | None", None if tls is None else self._ssl_policy(name, args, tls)),
            certificate=cast("JsonObject | None", certificate),
            scrape_seconds=args.scrape_seconds,
        )
        programmed = pulumi.ResourceOptions(
            custom_timeouts=pulumi.CustomTimeouts(create="30m", delete="30m"),
            # Its load balancer must go first: Google keeps the subnet of its proxies meanwhile, and without the cluster
            # nothing deletes it.
            replace_with=list(args.below),
            # Only Istio's has it. istiod keeps what it made for a Gateway that changes its class, address included
            # (istio ``pilot/pkg/config/kube/gatewaycommon/deploymentcontroller.go``).
            replace_on_changes=["spec.infrastructure"],
            delete_before_replace=True,
        )
        issued = pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(create="30m"))
        child = pulumi.ResourceOptions(parent=self, provider=args.provider)
        create(
            name,
            objects,
            child,
            earlier={manifests.CERT_MANAGER: [args.cert_manager]},
            special={manifests.GATEWAY: programmed, manifests.CERTIFICATE: issued},
        )
        self.register_outputs({})

    def _ssl_policy(self, name: str, args: EdgeArgs, tls: TlsSettings) -> pulumi.Output[str] | None:
        if tls.minimum_version is None or not args.settings.is_googles:
            return None
        policy = compute.RegionSslPolicy(
            f"{name}-ssl-policy",
            name=f"{args.prefix}-gateway",
            region=args.region,
            min_tls_version=f"TLS_{tls.minimum_version.replace('.', '_')}",
            profile=tls.profile,
            opts=pulumi.ResourceOptions(parent=self, hooks=patient(f"{name}-ssl-policy")),
        )
        return policy.name
