"""The resources of a stack in Cloud Monitoring, as data from which the component creates them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from llmd_gke.json_types import JsonObject
from llmd_gke.manifests.alerts import Channel, alert_policy, alerts, channels, channels_of
from llmd_gke.manifests.alerts.policy import CLUSTER_LABEL
from llmd_gke.manifests.dashboard import dashboard_json
from llmd_gke.manifests.monitoring import uptime
from llmd_gke.settings import StackSettings


@dataclass(frozen=True)
class Policy:
    """An alert policy: its key in the stack, its body without channels, and the keys of its channels."""

    key: str
    body: JsonObject
    channels: tuple[str, ...]


@dataclass(frozen=True)
class MonitoringPlan:
    """Everything to create. ``labels``: user labels of channels and uptime checks. ``dashboard``: JSON, or ``None``."""

    project: str
    labels: Mapping[str, str]
    channels: tuple[Channel, ...]
    policies: tuple[Policy, ...]
    dashboard: str | None
    checks: tuple[uptime.UptimeCheck, ...]

    @property
    def empty(self) -> bool:
        """Whether there is nothing to create."""
        return not (self.channels or self.policies or self.checks or self.dashboard)


def plan(settings: StackSettings) -> MonitoringPlan:
    """The plan for the settings of a stack."""
    notified = channels(settings)
    return MonitoringPlan(
        project=settings.project,
        labels={"managed-by": "pulumi", CLUSTER_LABEL: settings.cluster.name},
        channels=notified,
        policies=tuple(
            Policy(alert.key, alert_policy(alert, settings), tuple(one.key for one in channels_of(alert, notified)))
            for alert in alerts(settings)
        ),
        dashboard=dashboard_json(settings) if settings.monitoring.dashboard else None,
        checks=uptime.checks(settings),
    )
