"""Rules about buckets of Cloud Storage: names, addresses, how they are read, and sharing of compile caches."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping

from llmd_gke.catalog import models, versions
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.versions import is_older

BUCKET_NAME = re.compile(r"[a-z0-9][-_.a-z0-9]{1,61}[a-z0-9]")
"""Without the longer names of domains' owners, which have dots (https://cloud.google.com/storage/docs/buckets)."""


PATH_CHARACTERS = frozenset(f"{string.ascii_letters}{string.digits}._=@+~/-")
"""What a folder's name may consist of: none of it means anything in CEL, in mount options or in a shell."""


def bucket(name: str, before: str = "") -> Iterator[Finding]:
    """A bucket's name. ``before``: what precedes it in the setting, and in the fix."""
    if not BUCKET_NAME.fullmatch(name):
        yield Finding(
            "bucket-name",
            f"{name!r} is not the name of a bucket",
            allowed="3 to 63 lower-case letters, digits, dashes, underscores and dots; a letter or digit at both ends",
            fix=f"for example {before}my-project-weights",
        )


def bucket_uri(value: str) -> Iterator[Finding]:
    """``gs://BUCKET`` or ``gs://BUCKET/PATH``."""
    name = value.removeprefix("gs://").split("/")[0]
    if not value.startswith("gs://") or not name:
        yield Finding("bucket-uri", f"{value!r} names no bucket", "gs://BUCKET or gs://BUCKET/PATH", "gs://my-bucket")
    else:
        yield from bucket(name, "gs://")
    if ".." in value.split("/"):
        problem = f"{value!r} contains `..`, which Cloud Storage does not resolve"
        yield Finding("bucket-uri", problem, "gs://BUCKET/PATH", "remove `..` from the path")
    path = value.removeprefix("gs://").partition("/")[2]
    if wrong := sorted({*path} - PATH_CHARACTERS):
        yield Finding(
            "bucket-uri",
            f"{value!r} contains {' '.join(map(repr, wrong))} in its path, a part of mount options and of the "
            "condition of an IAM role",
            allowed="letters, digits and . _ = @ + ~ / -",
            fix="use a folder without these characters in its name",
        )


def parallel_download(uri: str) -> Iterator[Finding]:
    """Only weights that Cloud Storage FUSE mounts are read through its cache."""
    if not uri.startswith("gs://"):
        yield Finding(
            "parallel-download",
            f"{uri} is not mounted by Cloud Storage FUSE, whose cache this setting configures",
            allowed="parallelDownload only with a uri of gs://BUCKET/PATH, or with weightsCache",
            fix="remove parallelDownload, or set weightsCache to a bucket (hf://)"
            if uri.startswith("hf://")
            else "remove parallelDownload, or copy the weights to a bucket and set uri to it",
        )


def buffered_read(version: str) -> Iterator[Finding]:
    """Cloud Storage FUSE fetches weights ahead. ``version`` is the oldest GKE version that the cluster may have."""
    least = versions.gke_buffered_read()
    if is_older(version, least):
        yield Finding(
            "buffered-read",
            f"Cloud Storage FUSE fetches weights ahead from GKE {least} on, and the cluster's minVersion is {version}",
            allowed=f"cluster.minVersion {least} or newer, or parallelDownload",
            fix="parallelDownload: true, or raise cluster.minVersion",
        )


def weights_cache(uri: str, cache: str) -> Iterator[Finding]:
    """Only weights of Hugging Face are copied into a bucket, to a folder that can be mounted."""
    if not uri.startswith("hf://"):
        in_bucket = uri.startswith("gs://")
        yield Finding(
            "weights-cache",
            f"{uri} is in a bucket already"
            if in_bucket
            else f"{uri} is not on Hugging Face, from where weights are copied",
            allowed="weightsCache only with a uri of hf://OWNER/NAME",
            fix="remove weightsCache",
        )
    else:
        # The revision is a part of the path, too.
        yield from bucket_uri(models.copy_of(uri, cache) if cache.startswith("gs://") else cache)


def shared_copy(owner: str, folder: str, others: Mapping[str, str]) -> Iterator[Finding]:
    """No two Jobs write to the same folder, or to one inside the other: they would write the same unfinished files.

    ``others`` maps ``NAMESPACE/NAME`` of the models before it to the folders of their copies.
    """
    bucket = folder.removeprefix("gs://").split("/")[0]
    for other, theirs in others.items():
        if f"{folder}/".startswith(f"{theirs}/") or f"{theirs}/".startswith(f"{folder}/"):
            yield Finding(
                "shared-copy",
                f"{owner} and {other} copy weights to the same folder, {folder}",
                allowed="one model for each folder",
                fix=f"weightsCache: gs://{bucket}/{owner}",
            )


def shared_cache(owner: str, value: str, others: Mapping[str, str]) -> Iterator[Finding]:
    """No model of another namespace writes the same compile cache, or one inside the other.

    ``others`` maps ``NAMESPACE/NAME`` of the models before it to their caches.
    """
    folder = f"{value.rstrip('/')}/"
    for other, used in others.items():
        theirs = f"{used.rstrip('/')}/"
        apart = other.partition("/")[0] != owner.partition("/")[0]
        if apart and (folder.startswith(theirs) or theirs.startswith(folder)):
            yield Finding(
                "shared-cache",
                f"{owner} and {other} share a compile cache: each can change the compiled graphs that the other loads",
                allowed="a separate path for each namespace",
                fix=f"{value.rstrip('/')}/{owner}",
                severity="warning",
            )
