"""Rules about monitoring: the channels of alerts, and traces."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.rules import notification, tracing
from llmd_gke.rules.finding import Finding
from llmd_gke.settings.sections import ChannelSettings, StackSettings
from llmd_gke.settings.validation.finding_at import Located, at

KEY = "llmd-gke:monitoring.notify"


def monitoring(settings: StackSettings) -> Iterator[Located]:
    """Checks that every channel has one kind and a valid address, and that none is listed twice."""
    for index, channel in enumerate(settings.monitoring.notify):
        key = f"{KEY}[{index}]"
        yield from _channel(key, channel)
        if channel in settings.monitoring.notify[:index]:
            yield Located(key, None, Finding("notify-twice", "the same channel is in the list twice", fix="remove one"))


def traces(settings: StackSettings) -> Iterator[Located]:
    """Checks that traces have one receiver that pods can reach, and that no model's variables name another."""
    said, key = settings.monitoring.traces, "llmd-gke:monitoring.traces"
    if said is None:
        return
    yield from at(key, said.endpoint, tracing.destination(said.endpoint, cloud_trace=said.cloud_trace))
    if said.cloud_trace:
        yield from at(f"{key}.cloudTrace", True, tracing.managed(settings.cluster.min_version))
    for index, model in enumerate(settings.models):
        findings = tracing.server(model.extra_args, (variable.name for variable in model.env))
        yield from at(f"llmd-gke:models[{index}]", model.name, findings)


def _channel(key: str, channel: ChannelSettings) -> Iterator[Located]:
    yield from at(key, list(channel.kinds), notification.one_kind(channel.kinds))
    if channel.email is not None:
        yield from at(f"{key}.email", channel.email, notification.email(channel.email))
    if channel.slack is not None:
        yield from at(f"{key}.slack.channel", channel.slack.channel, notification.slack_channel(channel.slack.channel))
    if channel.pub_sub is not None:
        yield from at(f"{key}.pubSub.topic", channel.pub_sub.topic, notification.topic(channel.pub_sub.topic))
    if (webhook := channel.webhook) is not None:
        findings = notification.webhook(webhook.url, webhook.url_secret_name, webhook.user, webhook.secret_name)
        yield from at(f"{key}.webhook", None, findings)
    for setting, name in channel.secrets.items():
        yield from at(f"{key}.{setting}", None, notification.secret_name(setting, name))
