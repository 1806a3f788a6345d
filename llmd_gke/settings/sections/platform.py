"""The controllers."""

from __future__ import annotations

from llmd_gke.settings.sections.base import Shape


class PlatformSettings(Shape):
    """Controllers: cert-manager, LeaderWorkerSet and KServe."""

    chart_folder: str | None = None
    """Folder below which charts are read instead of their OCI registries, for offline work (default: none)."""
    network_policies: bool = True
    """Close the controllers' namespaces, except for API server and DNS (default: true; see ``docs/security.md``)."""
