"""Channels of alerts in Cloud Monitoring's format: ``NotificationChannel`` of its API v3.

Types and their labels: https://cloud.google.com/monitoring/alerts/using-channels-api#ncd, and the descriptors that
``projects.notificationChannelDescriptors.list`` answers with. With ``sensitiveLabels`` the provider keeps
``auth_token``, ``service_key`` and ``password`` out of its output; the address of a webhook is an ordinary label.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args
from urllib.parse import urlsplit

from llmd_gke.manifests.alerts.alert import Alert, Severity
from llmd_gke.settings import StackSettings
from llmd_gke.settings.sections.notification import ChannelSettings

SENSITIVE = ("auth_token", "service_key", "password")
"""Labels that the API accepts but never returns."""


@dataclass(frozen=True, kw_only=True)
class Channel:
    """A notification channel.

    ``key``: unique in a stack, and independent of the other entries of the list. ``labels``: those in plain text.
    ``secrets``: labels whose values are secrets of the stack, by the name of the secret (without namespace); those in
    :data:`SENSITIVE` are ``sensitiveLabels`` of the provider.
    """

    key: str
    type: str
    display_name: str
    labels: dict[str, str]
    minimum_severity: Severity
    secrets: dict[str, str] = field(default_factory=dict[str, str])

    def takes(self, alert: Alert) -> bool:
        """Whether an alert is severe enough for the channel."""
        order: tuple[Severity, ...] = get_args(Severity)
        return order.index(alert.severity) <= order.index(self.minimum_severity)


def channels(settings: StackSettings) -> tuple[Channel, ...]:
    """The channels of a stack, in the order of the settings; none without alerts."""
    monitoring = settings.monitoring
    return tuple(_channel(one, settings.cluster.name) for one in monitoring.notify) if monitoring.alerts else ()


def channels_of(alert: Alert, among: Sequence[Channel]) -> tuple[Channel, ...]:
    """The channels of ``among`` that an alert is sent to."""
    return tuple(channel for channel in among if channel.takes(alert))


def _channel(channel: ChannelSettings, cluster: str) -> Channel:
    kind, address, labels, secrets = _target(channel)
    given = channel.model_dump_json(by_alias=True, exclude_none=True, exclude={"minimum_severity"})
    digest = hashlib.sha256(given.encode()).hexdigest()[:8]
    return Channel(
        key=f"{channel.kinds[0].lower()}-{digest}",
        type=kind,
        display_name=f"{cluster}: {address}",
        labels=labels,
        minimum_severity=channel.minimum_severity,
        secrets=secrets,
    )


def _target(channel: ChannelSettings) -> tuple[str, str, dict[str, str], dict[str, str]]:
    """Type in the API, display name, labels, and the names of secrets by label."""
    if channel.email is not None:
        return "email", channel.email, {"email_address": channel.email}, {}
    if (slack := channel.slack) is not None:
        return "slack", f"Slack {slack.channel}", {"channel_name": slack.channel}, {"auth_token": slack.secret_name}
    if (pager := channel.pager_duty) is not None:
        return "pagerduty", f"PagerDuty {pager.secret_name}", {}, {"service_key": pager.secret_name}
    if channel.pub_sub is not None:
        return "pubsub", channel.pub_sub.topic, {"topic": channel.pub_sub.topic}, {}
    assert channel.webhook is not None, "a channel must have exactly one kind: llmd_gke.rules.notification.one_kind"  # noqa: S101
    webhook = channel.webhook
    if webhook.url is None:
        secret = webhook.url_secret_name or ""
        return "webhook_tokenauth", f"webhook {secret}", {}, {"url": secret}
    host = urlsplit(webhook.url).hostname or webhook.url
    if webhook.user is not None and webhook.secret_name is not None:
        labels = {"url": webhook.url, "username": webhook.user}
        return "webhook_basicauth", f"webhook {host}", labels, {"password": webhook.secret_name}
    return "webhook_tokenauth", f"webhook {host}", {"url": webhook.url}, {}
