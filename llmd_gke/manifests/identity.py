"""The identity of a model's pods: a Kubernetes service account of their own, and its roles on buckets.

Sources: https://cloud.google.com/kubernetes-engine/docs/how-to/workload-identity (a principal for one Kubernetes
service account, without a Google service account between); https://cloud.google.com/storage/docs/access-control/iam (a
condition on ``resource.name`` covers objects, not the listing of a bucket);
https://cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-setup (roles of a mount).
"""

from __future__ import annotations

from dataclasses import dataclass

from llmd_gke.catalog.models import bucket_of
from llmd_gke.manifests import naming
from llmd_gke.settings import ModelSettings

READ = "roles/storage.objectViewer"
WRITE = "roles/storage.objectUser"
"""Roles that Cloud Storage FUSE needs for a read-only and for a writable mount."""


@dataclass(frozen=True)
class Grant:
    """A role on a bucket, or on its folder ``prefix`` with ``what``; ``key`` is unique within a model."""

    key: str
    bucket: str
    role: str
    prefix: str | None = None
    what: str = "compile cache"

    @property
    def condition(self) -> str | None:
        """The IAM condition, in CEL."""
        if self.prefix is None:
            return None
        return f'resource.name.startsWith("projects/_/buckets/{self.bucket}/objects/{self.prefix}/")'


def account(model: str, cluster: str) -> str:
    """The Kubernetes service account of a model's pods, at most 63 characters.

    The cluster is part of it: all clusters of a project share one identity pool, in which the same namespace and
    account of another cluster are the same identity.
    """
    return f"{cluster}-{model}"


def copy_account(model: ModelSettings, cluster: str) -> str:
    """The Kubernetes service account of the Job that copies a model's weights."""
    return account(naming.copy_job(model.name, model.weights_uri), cluster)


def principal(project: str, number: str, namespace: str, name: str) -> str:
    """The IAM member for a Kubernetes service account of any cluster of the project."""
    pool = f"projects/{number}/locations/global/workloadIdentityPools/{project}.svc.id.goog"
    return f"principal://iam.googleapis.com/{pool}/subject/ns/{namespace}/sa/{name}"


def grants(model: ModelSettings) -> list[Grant]:
    """The roles of a model: weights are readable; a compile cache is readable, and writable below its own path.

    The role for reading a cache's bucket has no condition: a mount lists the bucket, which no condition on an object's
    name covers.
    """
    by_bucket: dict[str, Grant] = {}
    for bucket in (*model.read_buckets, model.cache_bucket):
        if bucket is not None:
            by_bucket.setdefault(bucket, Grant(f"{bucket}-read", bucket, READ))
    if model.compile_cache is None or model.cache_bucket is None:
        return list(by_bucket.values())
    path = model.compile_cache.removeprefix(f"gs://{model.cache_bucket}").strip("/")
    return [*by_bucket.values(), Grant(f"{model.cache_bucket}-write", model.cache_bucket, WRITE, path or None)]


def copy_grants(model: ModelSettings) -> list[Grant]:
    """The roles of the Job that copies a model's weights: it lists the bucket, and writes only into its folder."""
    if model.weights_cache is None or (bucket := bucket_of(model.weights_uri)) is None:
        return []
    path = model.weights_uri.removeprefix(f"gs://{bucket}").strip("/")
    return [
        Grant(f"copy-{bucket}-read", bucket, READ),
        Grant(f"copy-{bucket}-write", bucket, WRITE, path, "copy of the weights"),
    ]
