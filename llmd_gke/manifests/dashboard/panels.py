"""The panels of a stack, by question: are requests served, how fast, what limits them, what do they cost.

Autoscalers have no panel of their own: that of replicas shows desired and available replicas.
"""

from __future__ import annotations

from llmd_gke.manifests import promql
from llmd_gke.manifests.dashboard.caller_panels import callers
from llmd_gke.manifests.dashboard.hardware_panels import chips, starts
from llmd_gke.manifests.dashboard.panel import DashboardSection, Panel
from llmd_gke.manifests.dashboard.request_panels import latency, load, service
from llmd_gke.settings import StackSettings


def sections(settings: StackSettings) -> tuple[DashboardSection, ...]:
    """All panels of a stack."""
    window = promql.rate_window(settings.monitoring.interval_seconds)
    by_caller = callers(settings, window)
    asked = (DashboardSection("Callers", "Who uses how much?", by_caller),) if by_caller else ()
    return (
        DashboardSection("Service", "Is every model served, and what do clients get?", service(settings, window)),
        DashboardSection("Latency", "How long do clients wait?", latency(settings, window)),
        DashboardSection("Load", "What limits throughput: queue, KV cache, or nothing?", load(settings, window)),
        *asked,
        DashboardSection("Starts", "Where do new pods wait?", starts(settings)),
        DashboardSection("Chips and price", "Are the chips used, and what does a token cost?", chips(settings, window)),
    )


def panels(settings: StackSettings) -> tuple[Panel, ...]:
    """All panels of a stack without their sections."""
    return tuple(panel for section in sections(settings) for panel in section.panels)
