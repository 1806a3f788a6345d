"""Everything that Cloud Monitoring gets of a stack: alerts and dashboard, with the channels and checks they need."""

from llmd_gke.manifests.monitoring.plan import MonitoringPlan, Policy, plan
from llmd_gke.manifests.monitoring.uptime import UptimeCheck

__all__ = ["MonitoringPlan", "Policy", "UptimeCheck", "plan"]
