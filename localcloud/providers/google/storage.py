"""Buckets, for weights and compile caches."""

from __future__ import annotations

from localcloud.providers.google.resource_type import CloudState, ResourceType, TargetResource, missing
from localcloud.providers.protocol.values import JsonObject

BUCKET = "gcp:storage/bucket:Bucket"


def _outputs(target: TargetResource) -> JsonObject:
    return {
        "selfLink": f"https://www.googleapis.com/storage/v1/b/{target.name}",
        "url": f"gs://{target.name}",
        "projectNumber": 123456789012,
    }


def _bucket_exists(cloud_state: CloudState, target: TargetResource) -> None:
    name = target.text("bucket").removeprefix("b/")
    if cloud_state.get(BUCKET, name) is None and name not in cloud_state.faults.listed("existingBuckets"):
        raise missing("BucketIAMMember", f"b/{target.text('bucket')}")


KINDS: dict[str, ResourceType] = {
    BUCKET: ResourceType(
        id="{name}",  # bucket names are global
        title="Bucket",
        source="storage/resource_storage_bucket.go",
        api="storage.googleapis.com",
        autoname=222,
        computed=_outputs,
        labels="labels",
    ),
    "gcp:storage/bucketIAMMember:BucketIAMMember": ResourceType(
        id="b/{bucket}/{role}/{member}",
        title="IAM member",
        source="../tpgiamresource/resource_iam_member.go",
        api="storage.googleapis.com",
        autoname=None,
        adopts=True,
        computed=lambda _: {"etag": "BwYrehearsal="},
        create=_bucket_exists,
    ),
}
