"""The resources of a stack in Cloud Monitoring: alerts and dashboard, with the channels and checks that they need."""

from llmd_gke.manifests.monitoring.plan import MonitoringPlan, Policy, plan
from llmd_gke.manifests.monitoring.uptime import UptimeCheck

__all__ = ["MonitoringPlan", "Policy", "UptimeCheck", "plan"]
