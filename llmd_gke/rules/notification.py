"""Channels that alerts are sent to.

Sources: https://cloud.google.com/monitoring/support/notification-options, and the descriptors of channel types,
https://cloud.google.com/monitoring/api/ref_v3/rest/v3/projects.notificationChannelDescriptors/list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from llmd_gke.rules import secret_texts
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input

KINDS = ("email", "slack", "pagerDuty", "webhook", "pubSub")

SLACK_TOKEN = "slackToken"  # noqa: S105 - the name of a secret
PAGER_DUTY_KEY = "pagerDutyKey"
WEBHOOK_URL = "webhookUrl"
WEBHOOK_PASSWORD = "webhookPassword"  # noqa: S105 - the name of a secret
SECRETS = (SLACK_TOKEN, PAGER_DUTY_KEY, WEBHOOK_URL, WEBHOOK_PASSWORD)
"""Names of secrets of channels. A second one of a kind has the name with a suffix, such as ``slackTokenOps``."""
SECRET_OF = {
    "slack.secretName": SLACK_TOKEN,
    "pagerDuty.secretName": PAGER_DUTY_KEY,
    "webhook.urlSecretName": WEBHOOK_URL,
    "webhook.secretName": WEBHOOK_PASSWORD,
}
"""The secret that each setting of a channel refers to."""
PASTE = {
    SLACK_TOKEN: "the OAuth token of the Slack app",
    PAGER_DUTY_KEY: "the integration key of the PagerDuty service",
    WEBHOOK_URL: "the address of the webhook",
    WEBHOOK_PASSWORD: "the password of the webhook's user",
}
"""A description of each secret's value, for the message that asks for it."""
SUFFIX = r"(?:[A-Z0-9][A-Za-z0-9]{0,30})?"

EMAIL = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}"
)
SLACK_CHANNEL = re.compile(r"#[^\s#@,A-Z]{1,80}")
TOPIC = re.compile(r"projects/[a-z][a-z0-9.:-]{4,60}[a-z0-9]/topics/(?!goog)[A-Za-z][A-Za-z0-9._~+%-]{2,254}")


def is_secret_of(base: str, name: str) -> bool:
    """Whether a secret has that name of :data:`SECRETS`, or that with a suffix."""
    return re.fullmatch(re.escape(base) + SUFFIX, name) is not None


def one_kind(kinds: Sequence[str]) -> Iterator[Finding]:
    """A channel has exactly one kind."""
    if len(kinds) != 1:
        yield Finding(
            "notify-kind",
            f"an entry must have exactly one kind of channel, but this one has {' and '.join(kinds) or 'none'}",
            allowed=", ".join(KINDS),
            fix="add one entry per channel, such as `- email: oncall@example.com`",
        )


def secret_name(setting: str, name: str) -> Iterator[Finding]:
    """``setting`` (a key of :data:`SECRET_OF`) names a secret of the stack. It is not the secret itself."""
    base = SECRET_OF[setting]
    if not is_secret_of(base, name):
        yield Finding(
            "notify-secret",
            "this must be the name of a secret of the stack, not the secret itself",
            allowed=f"{base}, or {base} with a suffix, such as {base}Ops",
            fix=f"set it to {base}, and run `pulumi config set --secret llmd-gke:{base}`",
        )


def email(address: str) -> Iterator[Finding]:
    """The e-mail address has the form of one. Cloud Monitoring rejects others, but not a mistyped domain."""
    if EMAIL.fullmatch(address) is None:
        yield Finding("notify-email", "this is not an e-mail address", "NAME@DOMAIN", "such as oncall@example.com")


def slack_channel(channel: str) -> Iterator[Finding]:
    """The name is that of a channel, not of a person. Slack's channels have lower-case names."""
    if SLACK_CHANNEL.fullmatch(channel) is None:
        yield Finding(
            "notify-slack",
            "this is not the name of a Slack channel",
            "# and a lower-case name without spaces",
            'write it in quotes, such as "#llm-alerts": without them, YAML treats # as a comment',
        )


def topic(name: str) -> Iterator[Finding]:
    """The topic has its full name, because it may belong to another project."""
    if TOPIC.fullmatch(name) is None:
        yield Finding(
            "notify-topic",
            "this is not the full name of a Pub/Sub topic",
            "projects/PROJECT/topics/TOPIC",
            "gcloud pubsub topics list --format='value(name)'",
        )


def webhook(
    url: str | None, url_secret: str | None, user: str | None, password_secret: str | None
) -> Iterator[Finding]:
    """A webhook has exactly one address. It has a user and a password, or neither; it has them only if the address is
    not secret.

    Findings repeat no value, because an address may contain a token.
    """
    if (url is None) == (url_secret is None):
        problem = "a webhook must have exactly one address, but this one has " + ("none" if url is None else "two")
        yield Finding("notify-webhook", problem, "url, or urlSecretName", "set only one of them")
        return
    if (user is None) != (password_secret is None):
        problem = "basic authentication requires both user and secretName"
        yield Finding("notify-webhook", problem, "both or neither", f"secretName: {WEBHOOK_PASSWORD}")
    elif user is not None and url is None:
        problem = "Cloud Monitoring supports basic authentication only if the address is not a secret"
        yield Finding("notify-webhook", problem, fix="set url instead of urlSecretName, or remove user")
    if url is not None:
        yield from _address(url)


def _address(url: str) -> Iterator[Finding]:
    try:
        parts = urlsplit(url)
        sound = parts.scheme == "https" and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        sound = False
        parts = None
    if not sound or parts is None:
        yield Finding("notify-webhook", "this is not an HTTPS address", "https://HOST/PATH", "set the endpoint's URL")
    elif "@" in parts.netloc or parts.query or parts.fragment or secret_texts.has_shape(url):
        yield Finding(
            "notify-webhook",
            "the address contains credentials or a query, which anyone who can read the repository could use",
            "https://HOST/PATH",
            f"replace url by urlSecretName: {WEBHOOK_URL}, and run `pulumi config set --secret "
            f"llmd-gke:{WEBHOOK_URL}`; "
            "for basic authentication, set user and secretName",
        )


def notifies(policies: Sequence[Input]) -> Iterator[Finding]:
    """At least one of a stack's alert policies has a notification channel."""
    listed = [policy.get("notificationChannels") for policy in policies]
    # An unknown value is noted, and may be a channel.
    has_channel = [any(True for _ in channels.each()) for channels in listed]
    if policies and not any(has_channel) and not any(channels.notes.unknown for channels in listed):
        yield Finding(
            "production-alert-channel",
            "no alert policy of the stack has a notification channel: incidents are only shown in the console",
            fix="llmd-gke:monitoring.notify, such as `- email: oncall@example.com`",
        )
