"""The controllers that serve models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

from components.cluster import Cluster
from components.gateway_api import GatewayApi
from components.lazy_sdk import helm
from llmd_gke.manifests import charts
from llmd_gke.settings import PlatformSettings


@dataclass(frozen=True)
class PlatformArgs:
    """``gateway_api``: KServe's controller looks once, at its start, which CRDs exist, so GKE's come first."""

    settings: PlatformSettings
    cluster: Cluster
    gateway_api: GatewayApi


class Platform(pulumi.ComponentResource):
    """``llmd-gke:platform:Platform``: cert-manager, LeaderWorkerSet, KServe's CRDs, controller and presets.

    One ``helm.v3.Release`` each: CRDs of megabytes stay out of the program and of policies, and a Release can be
    previewed while the cluster does not exist. In this order, so that the controller finds every CRD it looks for.
    """

    def __init__(self, name: str, args: PlatformArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:platform:Platform", name, None, opts)
        folder = args.settings.chart_folder

        def release(spec: charts.Release, after: Sequence[pulumi.Resource]) -> helm.Release:
            return helm.Release(
                f"{name}-{spec.name}",
                name=spec.name,
                chart=spec.chart,
                version=spec.version,
                namespace=spec.namespace,
                create_namespace=True,
                values=spec.values,
                timeout=900,
                opts=pulumi.ResourceOptions(
                    parent=self,
                    provider=args.cluster.provider,
                    depends_on=after,
                    # Controllers own nothing outside the cluster. They stay until the last LLMInferenceService is
                    # finalised, then go with the cluster.
                    deleted_with=args.cluster.control_plane,
                ),
            )

        cert_manager = release(charts.cert_manager(folder), [])
        lws = release(charts.lws(folder), [])
        crds = release(charts.kserve_crds(folder), [cert_manager])
        controller = release(charts.kserve_controller(folder), [cert_manager, lws, crds, args.gateway_api])
        release(charts.kserve_presets(folder), [controller])
        self.register_outputs({})
