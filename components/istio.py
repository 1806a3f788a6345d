"""Istio's control plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import pulumi

from components.cluster import Cluster
from components.kubernetes_objects import create
from llmd_gke.catalog.registries import Mirrors
from llmd_gke.manifests import istio as manifests
from llmd_gke.settings import NetworkSettings, StackSettings


@dataclass(frozen=True, kw_only=True)
class IstioArgs:
    """Charts are in ``chart_folder`` or their registries, replaced by ``mirrors``. ``network`` and ``private_nodes``
    determine the source addresses of webhook requests. ``network_policies``: whether istiod's
    namespace is closed. ``sidecars``: the namespaces whose servers are in the mesh. ``routes_pools``: routes of the
    Gateway lead to InferencePools.
    """

    network: NetworkSettings
    sidecars: Sequence[str]
    routes_pools: bool
    private_nodes: bool
    network_policies: bool
    chart_folder: str | None
    mirrors: Mirrors
    cluster: Cluster

    @classmethod
    def of(cls, settings: StackSettings, *, cluster: Cluster) -> Self | None:
        """Those of a stack whose Gateway is Istio's."""
        if not settings.gateway.is_istio:
            return None
        return cls(
            network=settings.network,
            sidecars=() if settings.gateway.mesh is None else settings.namespaces,
            routes_pools=settings.routes_pools_at_the_edge,
            private_nodes=settings.cluster.private_nodes,
            network_policies=settings.platform.network_policies,
            chart_folder=settings.platform.chart_folder,
            mirrors=settings.mirrors,
            cluster=cluster,
        )


class Istio(pulumi.ComponentResource):
    """``llmd-gke:edge:Istio``: istiod and its CRDs in the namespace ``istio-system``, closed but for what they need;
    istio-cni in ``kube-system`` where servers have sidecars.

    istiod makes the GatewayClass ``istio`` and the proxies of the Gateway. Everything is deleted with the cluster,
    after the Gateway.
    """

    def __init__(self, name: str, args: IstioArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:edge:Istio", name, None, opts)
        objects = manifests.objects(
            args.network,
            args.sidecars,
            routes_pools=args.routes_pools,
            private_nodes=args.private_nodes,
            network_policies=args.network_policies,
            chart_folder=args.chart_folder,
            mirrors=args.mirrors,
        )
        cluster = args.cluster
        create(
            name,
            objects,
            pulumi.ResourceOptions(parent=self, provider=cluster.provider, deleted_with=cluster.control_plane),
        )
        self.register_outputs({})
