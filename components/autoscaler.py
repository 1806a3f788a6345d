"""KEDA, which makes the replicas of models follow their load on clusters without GKE's managed adapter of metrics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Self

import pulumi
from pulumi_gcp import organizations, projects
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.helm import v3 as helm

from components.cluster import Cluster
from components.custom_resources import NAMESPACE_TIMES, after, custom_resource, network_policy
from llmd_gke.catalog import scaling
from llmd_gke.catalog.registries import Mirrors
from llmd_gke.manifests import identity, keda, pod_security
from llmd_gke.manifests import scaling as objects
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
        namespace = core.Namespace(
            f"{name}-namespace",
            metadata={"name": scaling.KEDA_NAMESPACE, "labels": pod_security.labels("baseline")},
            opts=pulumi.ResourceOptions.merge(inside, pulumi.ResourceOptions(custom_timeouts=NAMESPACE_TIMES)),
        )
        first: list[pulumi.Resource] = [namespace]
        if args.settings.network_policies:
            closed = keda.network_policies(args.network, private_nodes=args.private_nodes)
            first += [
                network_policy(f"{name}-{key}", policy, after(inside, namespace)) for key, policy in closed.items()
            ]
        # Called once the cluster exists: in a new project, the API behind it is not enabled yet at the first preview.
        project = cluster.control_plane.id.apply(lambda _: args.project)
        number = organizations.get_project_output(project_id=project, opts=pulumi.InvokeOptions(parent=self)).number
        member = number.apply(partial(_member, args.project, keda.account(args.prefix)))
        first.append(
            projects.IAMMember(
                f"{name}-reads-metrics",
                project=args.project,
                role=scaling.READER_ROLE,
                member=member,
                opts=pulumi.ResourceOptions(parent=self),
            )
        )
        spec = keda.release(args.prefix, args.settings.chart_folder, args.mirrors)
        release = helm.Release(
            f"{name}-{spec.name}",
            name=spec.name,
            chart=spec.chart,
            namespace=spec.namespace,
            values=spec.values,
            timeout=900,
            opts=after(inside, *first),
        )
        custom_resource(f"{name}-authentication", objects.authentication(), after(inside, release))
        self.register_outputs({})


def _member(project: str, account: str, number: str) -> str:
    return identity.principal(project, number, scaling.KEDA_NAMESPACE, account)
