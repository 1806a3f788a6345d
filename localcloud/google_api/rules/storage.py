"""Buckets, for weights and compile caches."""

from __future__ import annotations

BUCKET = "gcp:storage/bucket:Bucket"
