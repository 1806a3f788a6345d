"""Rules about monitoring: the channels of alerts, and traces."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.rules import notification, tracing
from llmd_gke.rules.finding import Finding
from llmd_gke.settings.sections.notification import ChannelSettings
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.validation.finding_at import SettingFinding, locate

KEY = "llmd-gke:monitoring.notify"


def monitoring(settings: StackSettings) -> Iterator[SettingFinding]:
    """Checks that every channel has one kind and a valid address, and that none is listed twice."""
    for index, channel in enumerate(settings.monitoring.notify):
        key = f"{KEY}[{index}]"
        yield from _channel(key, channel)
        if channel in settings.monitoring.notify[:index]:
            finding = Finding("notify-twice", "the same channel is in the list twice", fix="remove one")
            yield SettingFinding(key, None, finding, (KEY,))


def traces(settings: StackSettings) -> Iterator[SettingFinding]:
    """Checks that traces have one receiver that pods can reach, and that no model's variables name another."""
    traces, key = settings.monitoring.traces, "llmd-gke:monitoring.traces"
    if traces is None:
        return
    findings = tracing.destination(traces.endpoint, cloud_trace=traces.cloud_trace)
    yield from locate(key, traces.endpoint, findings, key)
    if traces.cloud_trace:
        yield from locate(f"{key}.cloudTrace", True, tracing.managed(settings.cluster.min_version))
    for model_key, model in zip(settings.model_keys, settings.models, strict=True):
        findings = tracing.server(model.extra_args, (variable.name for variable in model.env))
        yield from locate(model_key, model.name, findings)


def _channel(key: str, channel: ChannelSettings) -> Iterator[SettingFinding]:
    yield from locate(key, list(channel.kinds), notification.one_kind(channel.kinds), key)
    if channel.email is not None:
        yield from locate(f"{key}.email", channel.email, notification.email(channel.email))
    if channel.slack is not None:
        yield from locate(
            f"{key}.slack.channel", channel.slack.channel, notification.slack_channel(channel.slack.channel)
        )
    if channel.pub_sub is not None:
        yield from locate(f"{key}.pubSub.topic", channel.pub_sub.topic, notification.topic(channel.pub_sub.topic))
    if (webhook := channel.webhook) is not None:
        findings = notification.webhook(webhook.url, webhook.url_secret_name, webhook.user, webhook.secret_name)
        yield from locate(f"{key}.webhook", None, findings, f"{key}.webhook")
    for setting, name in channel.secrets.items():
        yield from locate(f"{key}.{setting}", None, notification.secret_name(setting, name))
