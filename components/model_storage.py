"""Buckets of models, and access to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

import pulumi
from pulumi_gcp import organizations, storage

from components.cluster import Cluster
from components.fresh_apis import patient
from llmd_gke.manifests import identity
from llmd_gke.settings import ModelSettings, StackSettings


@dataclass(frozen=True, kw_only=True)
class ModelStorageArgs:
    """``buckets`` to create in ``region``, and the models that may use buckets. ``protect`` protects those with
    weights against deletion. The project's identity pool exists once ``cluster`` does; the models' service accounts
    contain its name.
    """

    models: Sequence[ModelSettings]
    buckets: Sequence[str]
    project: str
    region: str
    prefix: str
    protect: bool
    cluster: Cluster

    @classmethod
    def of(cls, settings: StackSettings, *, cluster: Cluster) -> Self | None:
        """Those of a stack that creates buckets, or whose models use some."""
        if not settings.uses_storage:
            return None
        return cls(
            models=settings.models,
            buckets=settings.storage.buckets,
            project=settings.project,
            region=settings.cluster.region,
            prefix=settings.cluster.name,
            protect=settings.cluster.protect,
            cluster=cluster,
        )


class ModelStorage(pulumi.ComponentResource):
    """``llmd-gke:models:ModelStorage``: the buckets to create, and the access of each model's pods to buckets.

    Access to weights is read-only, except for the Job that copies them; a compile cache is also writable, below its own
    path. Roles are granted to the service account of one model in one namespace (Workload Identity), not to a shared
    account. It is created after the cluster, because the identity pool is created with the cluster, and before the
    models, because mounts fail in a pod without read access. A bucket that is not empty is not deleted, except a
    compile cache, which later pods fill again.
    """

    def __init__(self, name: str, args: ModelStorageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:models:ModelStorage", name, None, opts)
        models = [model for model in args.models if model.uses_buckets]
        caches = {model.cache_bucket for model in models if model.cache_bucket is not None}
        weights = {bucket for model in models for bucket in model.read_buckets}
        made = {
            bucket: storage.Bucket(
                f"{name}-{bucket}",
                name=bucket,
                location=args.region.upper(),
                uniform_bucket_level_access=True,
                public_access_prevention="enforced",
                force_destroy=bucket in caches - weights,
                opts=pulumi.ResourceOptions(
                    parent=self, protect=args.protect and bucket in weights, hooks=patient(f"{name}-{bucket}")
                ),
            )
            for bucket in args.buckets
        }
        # Called once the cluster exists: in a new project, the API behind it is not enabled yet at the first preview.
        project = args.cluster.path.apply(lambda _: args.project)
        number = organizations.get_project_output(project_id=project, opts=pulumi.InvokeOptions(parent=self)).number
        for model in models:
            server = identity.account(model.name, args.prefix), identity.grants(model)
            copier = identity.copy_account(model, args.prefix), identity.copy_grants(model)
            for account, grant in ((account, grant) for account, grants in (server, copier) for grant in grants):
                member = number.apply(
                    partial(_member, project=args.project, namespace=model.namespace, account=account)
                )
                storage.BucketIAMMember(
                    f"{name}-{model.name}-{grant.key}",
                    bucket=made[grant.bucket].name if grant.bucket in made else grant.bucket,
                    role=grant.role,
                    member=member,
                    condition=None
                    if grant.condition is None
                    else storage.BucketIAMMemberConditionArgs(
                        title=f"{grant.what} of {model.name}", expression=grant.condition
                    ),
                    opts=pulumi.ResourceOptions(parent=self),
                )
        self.register_outputs({})


def _member(number: str, *, project: str, namespace: str, account: str) -> str:
    return identity.principal(project, number, namespace, account)
