"""Cloud Monitoring: notification channels, alert policies, dashboards and uptime checks.

What Google refuses of a body alone is in :mod:`localcloud.google_api.rules.monitoring_validation`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.rules.monitoring_validation import (
    channel_problems,
    dashboard_problems,
    policy_problems,
    uptime_problems,
)
from localcloud.google_api.rules.resource_type import CloudState, ResourceType, TargetResource
from localcloud.providers.protocol.values import JsonObject, dig, texts

CHANNEL = "gcp:monitoring/notificationChannel:NotificationChannel"
POLICY = "gcp:monitoring/alertPolicy:AlertPolicy"
DASHBOARD = "gcp:monitoring/dashboard:Dashboard"
UPTIME_CHECK = "gcp:monitoring/uptimeCheckConfig:UptimeCheckConfig"


def _free_of(problems: Callable[[JsonObject], Iterator[str]]) -> Callable[[CloudState, TargetResource], None]:
    """A ``create`` that raises :class:`ApiError` with the first problem of the body."""

    def create(cloud_state: CloudState, target: TargetResource) -> None:
        del cloud_state
        for problem in problems(target.inputs):
            raise ApiError(400, problem)

    return create


def _channel_unused(cloud_state: CloudState, target: TargetResource) -> None:
    if target.inputs.get("forceDelete") is True:
        return
    for name, record in cloud_state.all(POLICY).items():
        if target.id in texts(record, "inputs", "notificationChannels"):
            # https://github.com/hashicorp/terraform-provider-google/issues/10337
            raise ApiError(400, f'Could not delete "{target.id}" because it is still being referenced by: "{name}"')


def _policy(cloud_state: CloudState, target: TargetResource) -> None:
    _free_of(policy_problems)(cloud_state, target)
    for channel in texts(target.inputs, "notificationChannels"):
        if not re.fullmatch(r"projects/[^/]+/notificationChannels/[^/]+", channel):
            # https://github.com/crossplane-contrib/provider-upjet-gcp/issues/498
            due = "projects/{project_id}/notificationChannels/{channel_id}"
            raise ApiError(400, f"Name must begin with '{due}', got: {channel}")
        if cloud_state.get(CHANNEL, channel) is None:
            # https://github.com/hashicorp/terraform-provider-google/issues/25878
            raise ApiError(404, f"Notification channel not found: {channel}")


def _uptime_check_unused(cloud_state: CloudState, target: TargetResource) -> None:
    ident = target.id.rpartition("/")[2]
    for name, record in cloud_state.all(POLICY).items():
        if ident in json.dumps(dig(record, "inputs", "conditions")):
            # https://github.com/hashicorp/terraform-provider-google/issues/10176
            raise ApiError(400, f"Cannot delete check {ident}. One or more alerting policies is using it: {name}")


KINDS: dict[str, ResourceType] = {
    CHANNEL: ResourceType(create=_free_of(channel_problems), delete=_channel_unused),
    POLICY: ResourceType(create=_policy),
    DASHBOARD: ResourceType(create=_free_of(dashboard_problems)),
    UPTIME_CHECK: ResourceType(create=_free_of(uptime_problems), delete=_uptime_check_unused),
}
