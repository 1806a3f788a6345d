"""Settings of the controllers."""

from __future__ import annotations

from llmd_gke.settings.sections.base import Section


class PlatformSettings(Section):
    """The controllers: cert-manager, LeaderWorkerSet and KServe."""

    chart_folder: str | None = None
    """Folder to read charts from instead of their OCI registries, for offline work (default: none)."""
    network_policies: bool = True
    """Deny traffic in the controllers' namespaces by default, except to the API server and DNS (default: true; see
    ``docs/security.md``)."""
