"""What is measured of a stack."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from llmd_gke.catalog import monitoring
from llmd_gke.settings.sections.base import Shape


class MonitoringSettings(Shape):
    """Metrics of model servers and endpoint pickers (``docs/monitoring.md``)."""

    scrape: bool = True
    """Collect the metrics of model servers and endpoint pickers with Google Cloud Managed Service for Prometheus, which
    bills every sample (default: true)."""
    interval_seconds: Annotated[int, Field(ge=5, le=300)] = monitoring.DEFAULT_INTERVAL_SECONDS
    """Time between two scrapes in seconds (default: 30). Half of it doubles the bill for samples."""
