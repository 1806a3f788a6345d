"""Settings of metrics, traces, alerts and their recipients."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from llmd_gke.catalog import monitoring
from llmd_gke.settings.sections.base import Section
from llmd_gke.settings.sections.formats import RUNBOOK
from llmd_gke.settings.sections.notification import ChannelSettings
from llmd_gke.settings.sections.traces import TracesSettings


class MonitoringSettings(Section):
    """Metrics of model servers and endpoint pickers, and alerts on them (``docs/monitoring.md``)."""

    scrape: bool = True
    """Collect the metrics of model servers and endpoint pickers with Google Cloud Managed Service for Prometheus, which
    bills every sample (default: true)."""
    interval_seconds: Annotated[int, Field(ge=5, le=300)] = monitoring.DEFAULT_INTERVAL_SECONDS
    """Time between two scrapes in seconds (default: 30). Halving it doubles the cost of samples."""
    alerts: bool = True
    """Create the alert policies of ``docs/alerts.md`` in Cloud Monitoring (default: true). Without ``scrape``, only
    those on metrics that Google itself collects."""
    notify: tuple[ChannelSettings, ...] = Field(default=(), strict=False)
    """Channels that alerts are sent to (default: none; incidents are only shown in the console)."""
    runbook_url: Annotated[str, Field(pattern=RUNBOOK)] | None = None
    """Address of ``docs/alerts.md`` where your on-call staff read it, such as
    ``https://github.com/ORGANISATION/llmd-gke/blob/main/docs/alerts.md``: alerts link to it (default: none; alerts
    always contain the text)."""
    dashboard: bool = True
    """Create a dashboard of this stack in Cloud Monitoring (default: true)."""
    uptime_check: bool = True
    """Let Google's uptime checkers call the health endpoint of each model, or the front door, from outside, and alert
    when it fails (default: true). Only with an external gateway: they cannot reach an internal one."""
    traces: TracesSettings | None = None
    """Trace requests through endpoint pickers and servers (default: no traces)."""

    @property
    def cloud_trace(self) -> bool:
        """Whether traces go to Cloud Trace, so that the cluster runs GKE's collector."""
        return self.traces is not None and self.traces.cloud_trace
