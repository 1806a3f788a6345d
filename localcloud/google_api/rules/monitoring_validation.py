"""What Cloud Monitoring refuses of channels, alert policies, uptime checks and dashboards, by their bodies alone.

Limits are those of the fields' descriptions in Google's discovery documents (monitoring v3 of 2026-01-29, v1 of
2026-09-03) unless said otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from localcloud.providers.protocol.values import JsonObject, JsonValue, number, objects, table, text, texts

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

SENSITIVE = frozenset({"auth_token", "password", "service_key"})
"""Labels that are secrets (upstream ``var sensitiveLabels``)."""

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


def channel_problems(body: JsonObject) -> Iterator[str]:
    """Problems of a channel, whose labels are in the API's form."""
    kind, labels = text(body, "type"), table(body, "labels")
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
    """Problems of an alert policy by itself."""
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
