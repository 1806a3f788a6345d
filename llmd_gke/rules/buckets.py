"""Rules about buckets of Cloud Storage: names, addresses, and sharing of compile caches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from llmd_gke.rules.finding import Finding

BUCKET_NAME = re.compile(r"[a-z0-9][-_.a-z0-9]{1,61}[a-z0-9]")
"""It excludes the longer names with dots that owners of a domain may use
(https://cloud.google.com/storage/docs/buckets)."""


def bucket(name: str) -> Iterator[Finding]:
    """A bucket's name."""
    if not BUCKET_NAME.fullmatch(name):
        yield Finding(
            "bucket-name",
            f"{name!r} is not the name of a bucket",
            allowed="3 to 63 lower-case letters, digits, dashes, underscores and dots; a letter or digit at both ends",
            fix="for example my-project-weights",
        )


def bucket_uri(value: str) -> Iterator[Finding]:
    """``gs://BUCKET`` or ``gs://BUCKET/PATH``."""
    name = value.removeprefix("gs://").split("/")[0]
    if not value.startswith("gs://") or not name:
        yield Finding("bucket-uri", f"{value!r} names no bucket", "gs://BUCKET or gs://BUCKET/PATH", "gs://my-bucket")
    else:
        yield from bucket(name)
    if ".." in value.split("/"):
        problem = f"{value!r} contains `..`, which Cloud Storage does not resolve"
        yield Finding("bucket-uri", problem, "gs://BUCKET/PATH", "remove `..` from the path")
    if "," in value:
        yield Finding(
            "bucket-uri",
            f"{value!r} contains a comma, which separates mount options",
            fix="use a folder whose name has no comma",
        )


def parallel_download(uri: str) -> Iterator[Finding]:
    """Only weights that Cloud Storage FUSE mounts are read through its cache."""
    if not uri.startswith("gs://"):
        yield Finding(
            "parallel-download",
            f"{uri} is not mounted by Cloud Storage FUSE, whose cache this setting configures",
            allowed="parallelDownload only with a uri of gs://BUCKET/PATH",
            fix="remove parallelDownload, or copy the weights to a bucket and set uri to it",
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
