"""Buckets of models, and who may use them."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_gcp import serviceaccount, storage

from llmd_gke.manifests import naming
from llmd_gke.settings import StackSettings

READ = "roles/storage.objectViewer"
WRITE = "roles/storage.objectUser"
"""What Cloud Storage FUSE needs for a read-only and for a writable mount
(https://cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-setup)."""


@dataclass(frozen=True)
class ModelStorageArgs:
    """The stack's settings: buckets to make, and the models that use buckets."""

    settings: StackSettings


class ModelStorage(pulumi.ComponentResource):
    """``llmd-gke:models:ModelStorage``: the buckets to make, and one Google identity for the pods that use buckets.

    Weights are only read; a compile cache is also written. Pods get the identity by Workload Identity, whose pool comes
    with the cluster, so this component comes after it. A bucket with something in it is not deleted, except a compile
    cache, which the next pods fill again. Outputs: ``email`` (known to whoever may already use it).
    """

    email: pulumi.Output[str]

    def __init__(self, name: str, args: ModelStorageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:models:ModelStorage", name, None, opts)
        settings = args.settings
        models = [model for model in settings.models if model.uses_buckets]
        caches = {model.cache_bucket for model in models if model.cache_bucket is not None}
        weights = {model.weights_bucket for model in models if model.weights_bucket is not None}
        child = pulumi.ResourceOptions(parent=self)
        account = serviceaccount.Account(
            f"{name}-account",
            account_id=f"{settings.cluster.name}-model",
            display_name=f"Model pods of GKE cluster {settings.cluster.name}",
            opts=child,
        )
        made = {
            bucket: storage.Bucket(
                f"{name}-{bucket}",
                name=bucket,
                location=settings.cluster.region.upper(),
                uniform_bucket_level_access=True,
                public_access_prevention="enforced",
                force_destroy=bucket in caches - weights,
                opts=pulumi.ResourceOptions(parent=self, protect=settings.cluster.protect and bucket in weights),
            )
            for bucket in settings.storage.buckets
        }
        grants: list[pulumi.Resource] = [
            storage.BucketIAMMember(
                f"{name}-{bucket}-{'write' if bucket in caches else 'read'}",
                bucket=made[bucket].name if bucket in made else bucket,
                role=WRITE if bucket in caches else READ,
                member=account.member,
                opts=child,
            )
            for bucket in sorted(caches | weights)
        ]
        grants += [
            serviceaccount.IAMMember(
                f"{name}-{namespace}",
                service_account_id=account.name,
                role="roles/iam.workloadIdentityUser",
                member=f"serviceAccount:{settings.project}.svc.id.goog[{namespace}/{naming.STORAGE_ACCOUNT}]",
                opts=child,
            )
            for namespace in dict.fromkeys(model.namespace for model in models)
        ]
        # A pod that starts before it may read fails at its mount: whoever uses the identity waits for the grants.
        self.email = pulumi.Output.all(account.email, *[grant.urn for grant in grants]).apply(
            lambda values: str(values[0])
        )
        self.register_outputs({"email": self.email})
