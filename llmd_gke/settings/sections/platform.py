"""The controllers."""

from __future__ import annotations

from llmd_gke.settings.sections.base import Shape


class PlatformSettings(Shape):
    """Controllers. ``chart_folder``: read charts from folders below it instead of their OCI homes (offline work)."""

    chart_folder: str | None = None
    network_policies: bool = True
    """Close the controllers' namespaces, except for the API server and names (``docs/security.md``)."""
