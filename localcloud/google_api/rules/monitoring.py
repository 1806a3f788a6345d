"""Cloud Monitoring: notification channels, alert policies, dashboards and uptime checks.

Google assigns the names of all but dashboards: ``projects/P/alertPolicies/NUMBER``. What it refuses of a body alone is
in :mod:`localcloud.google_api.rules.monitoring_validation`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from localcloud.google_api.rules.monitoring_validation import (
    channel_body,
    channel_problems,
    dashboard_problems,
    policy_problems,
    uptime_problems,
)
from localcloud.google_api.rules.resource_type import CloudState, ResourceType, TargetResource, failed
from localcloud.providers.protocol.values import JsonObject, JsonValue, dig, texts

CHANNEL = "gcp:monitoring/notificationChannel:NotificationChannel"
POLICY = "gcp:monitoring/alertPolicy:AlertPolicy"
DASHBOARD = "gcp:monitoring/dashboard:Dashboard"
UPTIME_CHECK = "gcp:monitoring/uptimeCheckConfig:UptimeCheckConfig"


def _refuse(title: str, problems: Iterator[str]) -> None:
    """Raises :class:`Refused` with the first problem."""
    for problem in problems:
        raise failed(title, 400, problem, "badRequest")


def _channel(cloud_state: CloudState, target: TargetResource) -> None:
    del cloud_state
    _refuse("Error creating NotificationChannel", channel_problems(channel_body(target.inputs)))


def _channel_unused(cloud_state: CloudState, target: TargetResource) -> None:
    if target.inputs.get("forceDelete") is True:
        return
    for name, record in cloud_state.all(POLICY).items():
        if target.id in texts(record, "inputs", "notificationChannels"):
            # https://github.com/hashicorp/terraform-provider-google/issues/10337
            message = f'Could not delete "{target.id}" because it is still being referenced by: "{name}"'
            raise failed("Error when reading or editing NotificationChannel", 400, message, "badRequest")


def _policy(cloud_state: CloudState, target: TargetResource) -> None:
    title = "Error creating AlertPolicy"
    _refuse(title, policy_problems(target.inputs))
    for channel in texts(target.inputs, "notificationChannels"):
        if not re.fullmatch(r"projects/[^/]+/notificationChannels/[^/]+", channel):
            # https://github.com/crossplane-contrib/provider-upjet-gcp/issues/498
            due = "projects/{project_id}/notificationChannels/{channel_id}"
            raise failed(title, 400, f"Name must begin with '{due}', got: {channel}", "badRequest")
        if cloud_state.get(CHANNEL, channel) is None:
            # https://github.com/hashicorp/terraform-provider-google/issues/25878
            raise failed(title, 404, f"Notification channel not found: {channel}", "notFound")


def _uptime_check(cloud_state: CloudState, target: TargetResource) -> None:
    del cloud_state
    _refuse("Error creating UptimeCheckConfig", uptime_problems(target.inputs))


def _uptime_check_unused(cloud_state: CloudState, target: TargetResource) -> None:
    ident = target.id.rpartition("/")[2]
    for name, record in cloud_state.all(POLICY).items():
        if ident in json.dumps(dig(record, "inputs", "conditions")):
            # https://github.com/hashicorp/terraform-provider-google/issues/10176
            message = f"Cannot delete check {ident}. One or more alerting policies is using it: {name}"
            raise failed("Error when reading or editing UptimeCheckConfig", 400, message, "badRequest")


def _dashboard_body(target: TargetResource) -> JsonObject:
    try:
        body: JsonValue = json.loads(target.text("dashboardJson") or "{}")
    except json.JSONDecodeError:
        return {}
    return body if isinstance(body, dict) else {}


def _dashboard(cloud_state: CloudState, target: TargetResource) -> None:
    del cloud_state
    _refuse("Error creating Dashboard", dashboard_problems(_dashboard_body(target)))


def _named(target: TargetResource) -> JsonObject:
    return {"name": target.id}


KINDS: dict[str, ResourceType] = {
    CHANNEL: ResourceType(
        id="projects/{project}/notificationChannels/",
        computed=lambda target: {**_named(target), "verificationStatus": ""},
        create=_channel,
        update=lambda cloud_state, target, _: _channel(cloud_state, target),
        delete=_channel_unused,
    ),
    POLICY: ResourceType(
        id="projects/{project}/alertPolicies/",
        computed=_named,
        create=_policy,
        update=lambda cloud_state, target, _: _policy(cloud_state, target),
    ),
    DASHBOARD: ResourceType(
        id="projects/{project}/dashboards/",
        create=_dashboard,
        update=lambda cloud_state, target, _: _dashboard(cloud_state, target),
    ),
    UPTIME_CHECK: ResourceType(
        id="projects/{project}/uptimeCheckConfigs/{displayName}-",
        computed=lambda target: {**_named(target), "uptimeCheckId": target.id.rpartition("/")[2]},
        create=_uptime_check,
        update=lambda cloud_state, target, _: _uptime_check(cloud_state, target),
        delete=_uptime_check_unused,
    ),
}
