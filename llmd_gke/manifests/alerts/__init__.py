"""Alerts of a stack as data: expression, threshold, meaning, and steps to take.

One table (:mod:`.table`) is the source of the alert policies of Cloud Monitoring (:mod:`.policy`), the Prometheus rules
file (:mod:`.rules_file`) and the runbook, ``docs/alerts.md`` (:mod:`.page`).
"""

from llmd_gke.manifests.alerts.alert import GROUP, Alert, Origin, Severity
from llmd_gke.manifests.alerts.channels import Channel, channels, channels_of
from llmd_gke.manifests.alerts.edge import check_name, checked_models, checks_front_door
from llmd_gke.manifests.alerts.policy import alert_policy
from llmd_gke.manifests.alerts.table import alerts

__all__ = [
    "GROUP",
    "Alert",
    "Channel",
    "Origin",
    "Severity",
    "alert_policy",
    "alerts",
    "channels",
    "channels_of",
    "check_name",
    "checked_models",
    "checks_front_door",
]
