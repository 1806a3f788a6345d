"""Channels that alerts are sent to. Nothing here holds a secret: a channel names the stack's secret it needs."""

from __future__ import annotations

from typing import Literal

from llmd_gke.rules import notification
from llmd_gke.settings.sections.base import Section, Word


class SlackSettings(Section):
    """A channel of a Slack workspace."""

    channel: Word
    """Name of the channel, with ``#``; invite the app to private ones."""
    secret_name: str = notification.SLACK_TOKEN
    """Name of the stack's secret with the OAuth token of a Slack app that may post there: ``slackToken`` (default), or
    ``slackToken`` with a suffix for a second workspace, such as ``slackTokenOps``."""


class PagerDutySettings(Section):
    """A service of PagerDuty."""

    secret_name: str = notification.PAGER_DUTY_KEY
    """Name of the stack's secret with the integration key of the service: ``pagerDutyKey`` (default), or
    ``pagerDutyKey`` with a suffix for a second service, such as ``pagerDutyKeyNight``."""


class WebhookSettings(Section):
    """An HTTPS endpoint that gets each incident as JSON."""

    url: Word | None = None
    """Address, ``https://…``, without credentials and without a query; set it or ``url_secret_name`` (default:
    none)."""
    url_secret_name: str | None = None
    """Name of the stack's secret with the whole address, for an address that contains a token: ``webhookUrl``, or
    ``webhookUrl`` with a suffix (default: none)."""
    user: Word | None = None
    """User name for HTTP basic authentication (default: none); only with ``url``."""
    secret_name: str | None = None
    """Name of the stack's secret with the password of ``user``: ``webhookPassword``, or ``webhookPassword`` with a
    suffix (default: none)."""


class PubSubSettings(Section):
    """A Pub/Sub topic."""

    topic: Word
    """The topic, ``projects/PROJECT/topics/TOPIC``. Grant ``roles/pubsub.publisher`` on it to Cloud Monitoring's agent:
    ``docs/monitoring.md``."""


class ChannelSettings(Section):
    """One channel: exactly one of ``email``, ``slack``, ``pager_duty``, ``webhook`` and ``pub_sub``."""

    email: Word | None = None
    """E-mail address (default: none)."""
    slack: SlackSettings | None = None
    """A Slack channel (default: none)."""
    pager_duty: PagerDutySettings | None = None
    """A PagerDuty service, ``{}`` for the one that the secret ``pagerDutyKey`` belongs to (default: none)."""
    webhook: WebhookSettings | None = None
    """An HTTPS endpoint (default: none)."""
    pub_sub: PubSubSettings | None = None
    """A Pub/Sub topic (default: none)."""
    minimum_severity: Literal["critical", "warning", "info"] = "info"
    """Minimum severity of the alerts that are sent here (default: ``info``, all). ``critical``: requests fail now;
    ``warning``: they will, or are slow; ``info``: money is wasted."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that are set, as keys of the stack file."""
        return tuple(self.model_dump(by_alias=True, exclude_none=True, exclude={"minimum_severity"}))

    @property
    def secrets(self) -> dict[str, str]:
        """The stack's secrets that the channel needs: the key that names one (inside the channel), and its name."""
        secrets: dict[str, str | None] = {}
        if self.slack is not None:
            secrets["slack.secretName"] = self.slack.secret_name
        if self.pager_duty is not None:
            secrets["pagerDuty.secretName"] = self.pager_duty.secret_name
        if self.webhook is not None:
            secrets["webhook.urlSecretName"] = self.webhook.url_secret_name
            secrets["webhook.secretName"] = self.webhook.secret_name
        return {key: name for key, name in secrets.items() if name is not None}
