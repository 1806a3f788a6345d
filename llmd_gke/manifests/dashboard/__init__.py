"""The dashboard of a stack: typed panels, and their form in Cloud Monitoring and Grafana."""

from llmd_gke.manifests.dashboard.google import dashboard_json
from llmd_gke.manifests.dashboard.panel import DashboardSection, Panel, Query
from llmd_gke.manifests.dashboard.panels import panels, sections

__all__ = ["DashboardSection", "Panel", "Query", "dashboard_json", "panels", "sections"]
