"""The controllers: cert-manager, LeaderWorkerSet and KServe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pulumi

from components.cluster import Cluster
from components.gateway_api import GatewayApi
from components.kubernetes_objects import create
from components.optional import present
from llmd_gke.catalog.registries import Mirrors
from llmd_gke.manifests.objects import platform as manifests
from llmd_gke.settings import NetworkSettings, PlatformSettings, StackSettings


@dataclass(frozen=True, kw_only=True)
class PlatformArgs:
    """``mirrors`` replace the registries of charts and images. ``network`` and ``private_nodes`` determine the source
    addresses of webhook requests. ``gateway_api``: KServe's controller checks only at its start which CRDs exist, so
    those of GKE must exist first, as they do in an existing cluster. ``issuer``: cert-manager makes the Gateway's
    certificate.
    """

    settings: PlatformSettings
    network: NetworkSettings
    mirrors: Mirrors
    private_nodes: bool
    issuer: bool
    cluster: Cluster
    gateway_api: GatewayApi | None

    @classmethod
    def of(cls, settings: StackSettings, *, cluster: Cluster, gateway_api: GatewayApi | None) -> Self:
        """Those of a stack."""
        return cls(
            settings=settings.platform,
            network=settings.network,
            mirrors=settings.mirrors,
            private_nodes=settings.cluster.private_nodes,
            issuer=settings.gateway.tls is not None and settings.gateway.tls.issuer is not None,
            cluster=cluster,
            gateway_api=gateway_api,
        )


class Platform(pulumi.ComponentResource):
    """``llmd-gke:platform:Platform``: cert-manager, LeaderWorkerSet, KServe's CRDs, controller and presets.

    One ``helm.v3.Release`` each: this keeps CRDs of several megabytes out of the program and the policies, and a
    Release can be previewed before the cluster exists. The order ensures that the controller finds every CRD that it
    needs. The namespaces are created first, with Pod Security labels and default-deny NetworkPolicies. Attribute:
    ``cert_manager``, the release that other controllers with webhooks wait for.
    """

    cert_manager: pulumi.Resource

    def __init__(self, name: str, args: PlatformArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:platform:Platform", name, None, opts)
        found = {part.namespace: one for part, one in args.cluster.found.items()}
        objects = manifests.objects(
            args.settings,
            network=args.network,
            mirrors=args.mirrors,
            private_nodes=args.private_nodes,
            issuer=args.issuer,
            existing=found,
        )
        # Controllers own nothing outside the cluster. They remain until the last LLMInferenceService is finalised, and
        # are deleted with the cluster.
        child = pulumi.ResourceOptions(
            parent=self, provider=args.cluster.provider, deleted_with=args.cluster.control_plane
        )
        # What waits for a release waits for the controller that is there in its place.
        there = {spec: [one.resource] for space, one in found.items() for spec in manifests.names_in(space)}
        made = create(name, objects, child, earlier={manifests.GATEWAY_API: present(args.gateway_api), **there})
        (self.cert_manager,) = made[manifests.CERT_MANAGER]
        self.register_outputs({})
