"""Metrics of models: what Google's collectors scrape, and their access."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, cast

import pulumi
import pulumi_kubernetes as k8s
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta import v1 as meta
from pulumi_kubernetes.rbac import v1 as rbac

from components.cluster import Cluster
from components.custom_resources import custom_resource, network_policy
from llmd_gke.manifests import scraping
from llmd_gke.settings import MonitoringSettings, StackSettings


@dataclass(frozen=True, kw_only=True)
class ScrapingArgs:
    """``namespaces`` of the models; ``settings`` contain the scrape interval."""

    settings: MonitoringSettings
    namespaces: Sequence[str]
    provider: k8s.Provider

    @classmethod
    def of(cls, settings: StackSettings, *, cluster: Cluster) -> Self | None:
        """Those of a stack whose models' metrics are collected."""
        if not settings.monitoring.scrape:
            return None
        return cls(settings=settings.monitoring, namespaces=settings.namespaces, provider=cluster.provider)


class Scraping(pulumi.ComponentResource):
    """``llmd-gke:monitoring:Scraping``: PodMonitorings of model servers and endpoint pickers.

    Each namespace also gets a NetworkPolicy that admits the collectors, an account whose token they send to endpoint
    pickers, and permission to read that token. One ClusterRole and its binding allow the accounts to read ``/metrics``.
    """

    def __init__(self, name: str, args: ScrapingArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:monitoring:Scraping", name, None, opts)
        child = pulumi.ResourceOptions(parent=self, provider=args.provider)
        role = scraping.cluster_role()
        rbac.ClusterRole(
            f"{name}-reader",
            metadata=cast("meta.ObjectMetaArgsDict", role["metadata"]),
            rules=cast("list[rbac.PolicyRuleArgsDict]", role["rules"]),
            opts=child,
        )
        binding = scraping.cluster_role_binding(args.namespaces)
        rbac.ClusterRoleBinding(
            f"{name}-reader-binding",
            metadata=cast("meta.ObjectMetaArgsDict", binding["metadata"]),
            role_ref=cast("rbac.RoleRefArgsDict", binding["roleRef"]),
            subjects=cast("list[rbac.SubjectArgsDict]", binding["subjects"]),
            opts=child,
        )
        for namespace in args.namespaces:
            self._namespace(f"{name}-{namespace}", namespace, args.settings.interval_seconds, child)
        self.register_outputs({})

    def _namespace(self, name: str, namespace: str, interval_seconds: int, child: pulumi.ResourceOptions) -> None:
        account = core.ServiceAccount(
            f"{name}-account",
            metadata={"name": scraping.READER, "namespace": namespace},
            automount_service_account_token=False,
            opts=child,
        )
        token = core.Secret(
            f"{name}-token",
            metadata={
                "name": scraping.TOKEN,
                "namespace": namespace,
                "annotations": {"kubernetes.io/service-account.name": scraping.READER},
            },
            type="kubernetes.io/service-account-token",
            # Kubernetes deletes a token Secret at once if its account does not exist.
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[account])),
        )
        role, binding = scraping.read_token(namespace), scraping.read_token_binding(namespace)
        rbac.Role(
            f"{name}-read-token",
            metadata=cast("meta.ObjectMetaArgsDict", role["metadata"]),
            rules=cast("list[rbac.PolicyRuleArgsDict]", role["rules"]),
            opts=child,
        )
        rbac.RoleBinding(
            f"{name}-read-token-binding",
            metadata=cast("meta.ObjectMetaArgsDict", binding["metadata"]),
            role_ref=cast("rbac.RoleRefArgsDict", binding["roleRef"]),
            subjects=cast("list[rbac.SubjectArgsDict]", binding["subjects"]),
            opts=child,
        )
        network_policy(f"{name}-allow-collectors", scraping.network_policy(namespace), child)
        custom_resource(f"{name}-servers", scraping.servers(namespace, interval_seconds), child)
        with_token = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[token]))
        custom_resource(f"{name}-pickers", scraping.pickers(namespace, interval_seconds), with_token)
