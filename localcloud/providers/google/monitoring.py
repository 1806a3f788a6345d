"""Cloud Monitoring: notification channels, alerting policies, dashboards and uptime checks.

Google assigns the names of all but dashboards: ``projects/P/alertPolicies/NUMBER``. Limits are those of the fields'
descriptions in Google's discovery documents (monitoring v3 of 2026-01-29, v1 of 2026-09-03) unless said otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from localcloud.providers.google.resource_type import CloudState, ResourceType, TargetResource, failed
from localcloud.providers.protocol.rules import Failure
from localcloud.providers.protocol.values import JsonObject, JsonValue, dig, has_unknown, number, objects, text, texts

API = "monitoring.googleapis.com"
CHANNEL = "gcp:monitoring/notificationChannel:NotificationChannel"
POLICY = "gcp:monitoring/alertPolicy:AlertPolicy"
DASHBOARD = "gcp:monitoring/dashboard:Dashboard"
UPTIME_CHECK = "gcp:monitoring/uptimeCheckConfig:UptimeCheckConfig"

CHANNEL_LABELS = {
    "email": ("email_address",),
    "google_chat": ("space",),
    "pagerduty": ("service_key",),
    "pubsub": ("topic",),
    "slack": ("channel_name", "auth_token"),
    "sms": ("number",),
    "webhook_basicauth": ("url", "username", "password"),
    "webhook_tokenauth": ("url",),
}
"""Types of channels and the labels that each needs
(https://cloud.google.com/monitoring/alerts/using-channels-api, ``notificationChannelDescriptors``)."""
SENSITIVE = {"auth_token": "authToken", "password": "password", "service_key": "serviceKey"}
"""Labels that are secrets, to their names in ``sensitiveLabels`` (upstream ``var sensitiveLabels``)."""

MOST_CONDITIONS, MOST_CHANNELS = 6, 16
"""Maximum numbers of conditions and channels of a policy; channels: https://cloud.google.com/monitoring/quotas#alerting_uptime_limits."""
MOST_DOCUMENTATION = 8192
LEAST_CLOSE, MOST_CLOSE = 1800, 7 * 86400
"""Seconds of ``autoClose`` (https://cloud.google.com/monitoring/alerts/concepts-indepth#close-incidents)."""
PERIODS = ("60s", "300s", "600s", "900s")
LAYOUTS = ("gridLayout", "mosaicLayout", "rowLayout", "columnLayout")
MOST_COLUMNS, DEFAULT_COLUMNS = 48, 12
_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_USER_LABEL = re.compile(r"[a-z][a-z0-9_-]{0,62}")


def seconds(duration: str) -> float | None:
    """A duration such as ``300s`` in seconds; ``None`` for other text."""
    match = _DURATION.fullmatch(duration)
    return float(match[1]) if match else None


# -- what Google refuses ---------------------------------------------------------------------------------------------


def channel_problems(body: JsonObject) -> Iterator[str]:
    """Problems of a channel, whose labels are in the API's form."""
    kind, given = text(body, "type"), body.get("labels")
    labels = given if isinstance(given, dict) else {}
    if kind not in CHANNEL_LABELS:
        yield f'Field "notification_channel.type" had an invalid value of "{kind}": Unrecognized channel type'
        return
    for label in CHANNEL_LABELS[kind]:
        if not labels.get(label):
            yield f'Field "notification_channel.labels" is missing the required key "{label}" of type "{kind}"'
    for label in sorted(labels.keys() - {*CHANNEL_LABELS[kind]}):
        yield f'Field "notification_channel.labels" had the unrecognized key "{label}" of type "{kind}"'
    yield from _user_labels(body, "notification_channel")


def policy_problems(body: JsonObject) -> Iterator[str]:
    """Problems of an alerting policy by itself."""
    conditions = objects(body, "conditions")
    if not 1 <= len(conditions) <= MOST_CONDITIONS:
        yield f"Field alert_policy.conditions had {len(conditions)} elements: from 1 to {MOST_CONDITIONS} are allowed"
    if len(conditions) > 1 and not text(body, "combiner"):
        yield "Field alert_policy.combiner must be specified"
    if not text(body, "displayName"):
        yield "Field alert_policy.display_name must be specified"
    if len(texts(body, "notificationChannels")) > MOST_CHANNELS:
        yield f"Field alert_policy.notification_channels may have {MOST_CHANNELS} elements at most"
    if len(text(body, "documentation", "content")) > MOST_DOCUMENTATION:
        yield f"Field alert_policy.documentation.content may not exceed {MOST_DOCUMENTATION} characters"
    if len(objects(body, "documentation", "links")) > 3:
        yield "Field alert_policy.documentation.links may have 3 elements at most"
    close = text(body, "alertStrategy", "autoClose")
    if close and not LEAST_CLOSE <= (seconds(close) or 0) <= MOST_CLOSE:
        yield f'Field alert_policy.alert_strategy.auto_close had an invalid value of "{close}": 1800s to 604800s'
    yield from _user_labels(body, "alert_policy")
    for index, condition in enumerate(conditions):
        query = condition.get("conditionPrometheusQueryLanguage")
        if isinstance(query, dict):
            where = f"alert_policy.conditions[{index}].condition_prometheus_query_language"
            yield from (f"Field {where}.{problem}" for problem in _query_problems(query))


def _query_problems(query: JsonObject) -> Iterator[str]:
    if not text(query, "query"):
        yield "query must be specified"
    duration, interval = text(query, "duration"), text(query, "evaluationInterval")
    if duration and seconds(duration) is None:
        yield f'duration had an invalid value of "{duration}"'
    if interval and (not seconds(interval) or (seconds(interval) or 0) % 30):
        yield f'evaluation_interval had an invalid value of "{interval}": a positive multiple of 30 seconds'
    rule, labels = text(query, "alertRule"), query.get("labels")
    if rule and not _LABEL.fullmatch(rule):
        yield f'alert_rule had an invalid value of "{rule}": must be a valid Prometheus label name'
    for name in labels if isinstance(labels, dict) else {}:
        if not _LABEL.fullmatch(name):
            yield f'labels had an invalid key "{name}": must be a valid Prometheus label name'
    # Nothing is measured here, so that no metric exists, as before the first `pulumi up` at Google.
    if query.get("disableMetricValidation") is not True:
        yield "query refers to a metric that does not exist, and disable_metric_validation is not set"


def _user_labels(body: JsonObject, where: str) -> Iterator[str]:
    labels = body.get("userLabels")
    for key, value in labels.items() if isinstance(labels, dict) else ():
        fine = _USER_LABEL.fullmatch(key) and isinstance(value, str) and re.fullmatch(r"[a-z0-9_-]{0,63}", value)
        if not fine:
            yield f'Field {where}.user_labels had an invalid entry "{key}": "{value}"'


def uptime_problems(body: JsonObject) -> Iterator[str]:
    """Problems of an uptime check."""
    if not text(body, "displayName"):
        yield "Field uptime_check_config.display_name must be specified"
    timeout, period = text(body, "timeout"), text(body, "period")
    if not 1 <= (seconds(timeout) or 0) <= 60:
        yield f'Field uptime_check_config.timeout had an invalid value of "{timeout}": 1s to 60s'
    if period and period not in PERIODS:
        yield f'Field uptime_check_config.period had an invalid value of "{period}": {", ".join(PERIODS)}'
    if text(body, "monitoredResource", "type") == "uptime_url" and not text(
        body, "monitoredResource", "labels", "host"
    ):
        yield 'Field uptime_check_config.monitored_resource.labels is missing the required key "host"'
    if not any(isinstance(body.get(key), dict) for key in ("httpCheck", "tcpCheck", "syntheticMonitor")):
        yield "Field uptime_check_config must have one of http_check, tcp_check, synthetic_monitor"
    yield from _user_labels(body, "uptime_check_config")


def dashboard_problems(body: JsonObject) -> Iterator[str]:
    """Problems of a dashboard."""
    if not text(body, "displayName"):
        yield "Field dashboard.display_name must be specified"
    layouts = [key for key in LAYOUTS if key in body]
    if len(layouts) > 1:
        yield f"Field dashboard.layout is a oneof, and has {', '.join(layouts)}"
    if "mosaicLayout" in body:
        yield from _mosaic_problems(body["mosaicLayout"])


def _mosaic_problems(layout: JsonValue) -> Iterator[str]:
    columns = number(layout, "columns") or DEFAULT_COLUMNS
    if columns > MOST_COLUMNS:
        yield f"Field dashboard.mosaic_layout.columns had an invalid value of {columns}: from 1 to {MOST_COLUMNS}"
    taken: dict[tuple[int, int], int] = {}
    for index, tile in enumerate(objects(layout, "tiles")):
        x, y, width, height = (number(tile, key) or 0 for key in ("xPos", "yPos", "width", "height"))
        where = f"Field dashboard.mosaic_layout.tiles[{index}]"
        if width < 1 or height < 1 or x + width > columns:
            yield f"{where} does not fit into {columns} columns"
            continue
        cells = [(column, row) for column in range(x, x + width) for row in range(y, y + height)]
        if other := {taken[cell] for cell in cells if cell in taken}:
            yield f"{where} overlaps tiles[{min(other)}]"
        taken.update(dict.fromkeys(cells, index))


def channel_body(inputs: JsonObject) -> JsonObject:
    """A channel as the API has it: secrets are labels (upstream ``resourceMonitoringNotificationChannelEncoder``)."""
    secret = {label: dig(inputs, "sensitiveLabels", name) for label, name in SENSITIVE.items()}
    labels = inputs.get("labels")
    both: JsonObject = {**(labels if isinstance(labels, dict) else {}), **{k: v for k, v in secret.items() if v}}
    return {**inputs, "labels": both}


# -- the same, as rules of resources -----------------------------------------------------------------------------------


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


def _is_json(target: TargetResource) -> Iterator[Failure]:
    written = target.text("dashboardJson")
    try:
        json.loads(written or "{}")
    except json.JSONDecodeError as error:
        yield Failure("dashboardJson", f'"dashboard_json" contains an invalid JSON: {error}')  # validation.StringIsJSON


def _dashboard(cloud_state: CloudState, target: TargetResource) -> None:
    del cloud_state
    _refuse("Error creating Dashboard", dashboard_problems(_dashboard_body(target)))


def _one_secret(target: TargetResource) -> Iterator[Failure]:
    """Exactly one sensitive label is set (upstream ``ExactlyOneOf`` and ``sensitiveLabelCustomizeDiff``)."""
    secret, labels = target.inputs.get("sensitiveLabels"), target.inputs.get("labels")
    if not isinstance(secret, dict) or has_unknown(secret):
        return
    if len(secret) != 1:
        yield Failure("sensitiveLabels", f"exactly one of {', '.join(SENSITIVE.values())} is allowed")
    for label, name in SENSITIVE.items():
        if name in secret and isinstance(labels, dict) and label in labels:
            yield Failure("sensitiveLabels", f'Sensitive label "{label}" cannot be set at the same time as label')


def _named(target: TargetResource) -> JsonObject:
    return {"name": target.id}


KINDS: dict[str, ResourceType] = {
    CHANNEL: ResourceType(
        id="projects/{project}/notificationChannels/",
        numbered=True,
        title="NotificationChannel",
        source="monitoring/resource_monitoring_notification_channel.go",
        api=API,
        autoname=None,
        computed=lambda target: {**_named(target), "verificationStatus": ""},
        check=_one_secret,
        create=_channel,
        update=lambda cloud_state, target, _: _channel(cloud_state, target),
        delete=_channel_unused,
    ),
    POLICY: ResourceType(
        id="projects/{project}/alertPolicies/",
        numbered=True,
        title="AlertPolicy",
        source="monitoring/resource_monitoring_alert_policy.go",
        api=API,
        autoname=None,
        computed=_named,
        create=_policy,
        update=lambda cloud_state, target, _: _policy(cloud_state, target),
    ),
    DASHBOARD: ResourceType(
        id="projects/{project}/dashboards/",
        numbered=True,
        title="Dashboard",
        source="monitoring/resource_monitoring_dashboard.go",
        api=API,
        autoname=None,
        check=_is_json,
        create=_dashboard,
        update=lambda cloud_state, target, _: _dashboard(cloud_state, target),
    ),
    UPTIME_CHECK: ResourceType(
        id="projects/{project}/uptimeCheckConfigs/{displayName}-",
        numbered=True,
        title="UptimeCheckConfig",
        source="monitoring/resource_monitoring_uptime_check_config.go",
        api=API,
        autoname=None,
        computed=lambda target: {**_named(target), "uptimeCheckId": target.id.rpartition("/")[2]},
        create=_uptime_check,
        update=lambda cloud_state, target, _: _uptime_check(cloud_state, target),
        delete=_uptime_check_unused,
    ),
}
