"""KEDA, which makes the replicas of models follow their load on clusters without GKE's managed adapter of metrics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Self

import pulumi
from pulumi_gcp import organizations, projects

from components.cluster import Cluster
from components.kubernetes_objects import create
from llmd_gke.catalog import scaling
from llmd_gke.catalog.existing import KEDA
from llmd_gke.catalog.registries import Mirrors
from llmd_gke.manifests import identity, keda
from llmd_gke.settings import NetworkSettings, PlatformSettings, StackSettings


@dataclass(frozen=True, kw_only=True)
class AutoscalerArgs:
    """``mirrors`` replace the registries of images. ``network`` and ``private_nodes`` determine the source addresses of
    the API server's requests. The operator's service account contains ``prefix``, the cluster's name, and reads the
    metrics of ``project``.
    """

    settings: PlatformSettings
    network: NetworkSettings
    mirrors: Mirrors
    private_nodes: bool
    project: str
    prefix: str
    cluster: Cluster

    @classmethod
    def of(cls, settings: StackSettings, *, cluster: Cluster) -> Self | None:
        """Those of a stack with a model that KEDA scales."""
        if not settings.scales_by("keda"):
            return None
        return cls(
            settings=settings.platform,
            network=settings.network,
            mirrors=settings.mirrors,
            private_nodes=settings.cluster.private_nodes,
            project=settings.project,
            prefix=settings.cluster.name,
            cluster=cluster,
        )


class Autoscaler(pulumi.ComponentResource):
    """``llmd-gke:autoscaling:Autoscaler``: KEDA in a closed namespace, and its access to the project's metrics.

    Exists only in stacks with a model that KEDA scales. It is deleted after the models, because KEDA has to remove its
    finalizer from each ScaledObject.
    """

    def __init__(self, name: str, args: AutoscalerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:autoscaling:Autoscaler", name, None, opts)
        cluster = args.cluster
        inside = pulumi.ResourceOptions(parent=self, provider=cluster.provider, deleted_with=cluster.control_plane)
        # Called once the cluster exists: in a new project, the API behind it is not enabled yet at the first preview.
        project = cluster.path.apply(lambda _: args.project)
        number = organizations.get_project_output(project_id=project, opts=pulumi.InvokeOptions(parent=self)).number
        space, account = scaling.KEDA_NAMESPACE, pulumi.Output.from_input(keda.account(args.prefix))
        if (operator := cluster.found.get(KEDA)) is not None:
            space = operator.resource.metadata.namespace
            account = operator.resource.spec.template.spec.service_account_name
        member = pulumi.Output.all(number, space, account).apply(partial(_member, args.project))
        reads_metrics = projects.IAMMember(
            f"{name}-reads-metrics",
            project=args.project,
            role=scaling.READER_ROLE,
            member=member,
            opts=pulumi.ResourceOptions(parent=self),
        )
        settings = args.settings
        objects = keda.objects(
            args.prefix,
            network=args.network if settings.network_policies else None,
            private_nodes=args.private_nodes,
            chart_folder=settings.chart_folder,
            mirrors=args.mirrors,
            existing=operator is not None,
        )
        create(name, objects, inside, earlier={keda.ACCESS: [reads_metrics]})
        self.register_outputs({})


def _member(project: str, values: list[str]) -> str:
    number, namespace, account = values
    return identity.principal(project, number, namespace, account)
