"""Hosts that start while the platform is installed, of a pool whose hosts wait for pods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, cast

import pulumi
import pulumi_kubernetes as k8s
from pulumi_kubernetes.batch import v1 as batch
from pulumi_kubernetes.meta import v1 as meta

from components.cluster import Cluster
from components.custom_resources import after
from components.platform import Platform
from llmd_gke.manifests import early_hosts
from llmd_gke.settings import AcceleratorPool, ModelSettings, StackSettings


@dataclass(frozen=True, kw_only=True)
class EarlyHostsArgs:
    """``settings`` of the pool. ``model``: one that runs on it, whose namespace and image are used. ``platform``: once
    it is installed, the models' own pods follow.
    """

    settings: AcceleratorPool
    model: ModelSettings
    platform: Platform
    provider: k8s.Provider

    @classmethod
    def of(cls, settings: StackSettings, pool: AcceleratorPool, *, cluster: Cluster, platform: Platform) -> Self | None:
        """Those of a pool of a stack for whose early hosts pods ask."""
        model = settings.asks_for_early_hosts(pool)
        if model is None:
            return None
        return cls(settings=pool, model=model, platform=platform, provider=cluster.provider)


class EarlyHosts(pulumi.ComponentResource):
    """``llmd-gke:pools:EarlyHosts``: a Job whose pods ask for hosts, and the patch that suspends it before the models'
    pods exist.

    A later change of the image or of the number of hosts asks for none. Where the setting is added to a pool that
    exists, the platform is there already, and the Job is suspended right after it was created.
    """

    def __init__(self, name: str, args: EarlyHostsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:pools:EarlyHosts", name, None, opts)
        child = pulumi.ResourceOptions(parent=self, provider=args.provider)
        manifest = early_hosts.job(args.settings, args.model)
        job = batch.Job(
            f"{name}-job",
            metadata=cast("meta.ObjectMetaArgsDict", manifest["metadata"]),
            spec=cast("batch.JobSpecArgsDict", manifest["spec"]),
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(ignore_changes=["spec"])),
        )
        patch = early_hosts.suspended(args.settings, args.model.namespace)
        batch.JobPatch(
            f"{name}-suspended",
            metadata=cast("meta.ObjectMetaPatchArgsDict", patch["metadata"]),
            spec=cast("batch.JobSpecPatchArgsDict", patch["spec"]),
            # Removing the patch from a Job that remains would let it ask again, for example while a stack is destroyed.
            opts=pulumi.ResourceOptions.merge(
                after(child, job, args.platform), pulumi.ResourceOptions(deleted_with=job)
            ),
        )
        self.register_outputs({})
