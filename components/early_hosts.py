"""Hosts that start while the platform is installed, of a pool whose hosts wait for pods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pulumi
import pulumi_kubernetes as k8s

from components.cluster import Cluster
from components.kubernetes_objects import resource
from components.platform import Platform
from llmd_gke.json_types import JsonObject
from llmd_gke.manifests import early_hosts
from llmd_gke.settings import ModelSettings, PoolSettings, StackSettings


@dataclass(frozen=True, kw_only=True)
class EarlyHostsArgs:
    """``settings`` of the pool. ``model``: one that runs on it, whose namespace and image are used. ``platform``: once
    it is installed, the models' own pods follow.
    """

    settings: PoolSettings
    model: ModelSettings
    platform: Platform
    provider: k8s.Provider

    @classmethod
    def of(cls, settings: StackSettings, pool: PoolSettings, *, cluster: Cluster, platform: Platform) -> Self | None:
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
        job = resource(
            f"{name}-job",
            early_hosts.job(args.settings, args.model),
            pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(ignore_changes=["spec"])),
        )
        patch = early_hosts.suspended(args.settings, args.model.namespace)
        # Removing the patch from a Job that remains would let it ask again, for example while a stack is destroyed.
        last = pulumi.ResourceOptions(depends_on=[job, args.platform], deleted_with=job)
        patch_kind: JsonObject = {"apiVersion": "batch/v1", "kind": "JobPatch"}
        resource(f"{name}-suspended", {**patch_kind, **patch}, pulumi.ResourceOptions.merge(child, last))
        self.register_outputs({})
