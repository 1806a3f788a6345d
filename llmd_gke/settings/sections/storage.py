"""Buckets."""

from __future__ import annotations

from pydantic import Field

from llmd_gke.settings.sections.base import Shape


class StorageSettings(Shape):
    """Cloud Storage buckets."""

    buckets: tuple[str, ...] = Field(default=(), strict=False)
    """Names of the buckets that the program makes, in the cluster's region (default: none). Every other bucket that a
    model names exists already; the program only gives the model's pods access."""
