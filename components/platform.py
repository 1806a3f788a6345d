"""The controllers: cert-manager, LeaderWorkerSet and KServe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import pulumi
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.helm import v3 as helm

from components.cluster import Cluster
from components.custom_resources import network_policy
from components.gateway_api import GatewayApi
from llmd_gke.catalog.registries import Mirrors
from llmd_gke.manifests import charts, platform_firewall, pod_security
from llmd_gke.settings import NetworkSettings, PlatformSettings, StackSettings


@dataclass(frozen=True, kw_only=True)
class PlatformArgs:
    """``mirrors`` replace the registries of charts and images. ``network`` and ``private_nodes`` determine the source
    addresses of webhook requests. ``gateway_api``: KServe's controller checks only at its start which CRDs exist, so
    those of GKE must exist first.
    """

    settings: PlatformSettings
    network: NetworkSettings
    mirrors: Mirrors
    private_nodes: bool
    cluster: Cluster
    gateway_api: GatewayApi

    @classmethod
    def of(cls, settings: StackSettings, *, cluster: Cluster, gateway_api: GatewayApi) -> Self:
        """Those of a stack."""
        return cls(
            settings=settings.platform,
            network=settings.network,
            mirrors=settings.mirrors,
            private_nodes=settings.cluster.private_nodes,
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

    cert_manager: helm.Release

    def __init__(self, name: str, args: PlatformArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:platform:Platform", name, None, opts)
        folder, mirrors = args.settings.chart_folder, args.mirrors
        # Controllers own nothing outside the cluster. They remain until the last LLMInferenceService is finalised, and
        # are deleted with the cluster.
        child = pulumi.ResourceOptions(
            parent=self, provider=args.cluster.provider, deleted_with=args.cluster.control_plane
        )
        prepared = {space: _namespace(f"{name}-{space}", space, args, child) for space in charts.WEBHOOK_PORTS}

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
                opts=pulumi.ResourceOptions.merge(
                    child, pulumi.ResourceOptions(depends_on=[*prepared[spec.namespace], *after])
                ),
            )

        self.cert_manager = release(charts.cert_manager(folder, mirrors), [])
        lws = release(charts.lws(folder, mirrors), [])
        # The CRDs only carry an annotation for cert-manager, which it follows whenever it starts.
        crds = release(charts.kserve_crds(folder, mirrors), [])
        before = [self.cert_manager, lws, crds, args.gateway_api]
        controller = release(charts.kserve_controller(folder, mirrors), before)
        release(charts.kserve_presets(folder, mirrors), [controller])
        self.register_outputs({})


def _namespace(
    name: str, namespace: str, args: PlatformArgs, opts: pulumi.ResourceOptions
) -> Sequence[pulumi.Resource]:
    """A namespace with labels, and its NetworkPolicies.

    It is a patch, because a patch creates a missing namespace and labels an existing one: in older stacks Helm created
    it (``createNamespace``). There a ``Namespace`` would fail because it already exists, and this program would delete
    what it did not create.
    """
    patch = core.NamespacePatch(
        f"{name}-namespace",
        metadata={"name": namespace, "labels": pod_security.labels("baseline")},
        opts=opts,
    )
    if not args.settings.network_policies:
        return [patch]
    inside = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[patch]))
    policies = platform_firewall.policies(namespace, args.network, private_nodes=args.private_nodes)
    return [patch, *(network_policy(f"{name}-{key}", policy, inside) for key, policy in policies.items())]
