"""Settings of Cloud Storage buckets."""

from __future__ import annotations

from pydantic import Field

from llmd_gke.settings.sections.base import Section


class StorageSettings(Section):
    """Cloud Storage buckets."""

    buckets: tuple[str, ...] = Field(default=(), strict=False)
    """Names of the buckets that the program creates, in the cluster's region (default: none). Other buckets that
    models use must already exist; the program only grants the models' pods access."""
