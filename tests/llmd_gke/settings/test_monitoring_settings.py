"""Channels of alerts, and objectives of models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmd_gke.rules import notification
from llmd_gke.settings import Checked, ObjectivesSettings, load_stack, required_secrets
from llmd_gke.settings.secret_keys import is_secret_key
from llmd_gke.settings.validation import CLOUD_VARIABLE
from tests.llmd_gke.settings.conftest import ROOT, Config, Refuse

PASTED = "b4a1f2c3d4e5f60718293a4b5c6d7e8f"
SECRETS = [f"llmd-gke:{name}" for name in notification.SECRETS]
EVERY_KIND: list[dict[str, Any]] = [
    {"email": "on-call+llm@example.com", "minimumSeverity": "critical"},
    {"slack": {"channel": "#llm-alerts"}},
    {"slack": {"channel": "#betrieb", "secretName": "slackTokenOps"}},
    {"pagerDuty": {}},
    {"pagerDuty": {"secretName": "pagerDutyKey2"}},
    {"webhook": {"url": "https://hooks.example.com:8443/llm"}},
    {"webhook": {"url": "https://hooks.example.com/llm", "user": "gke", "secretName": "webhookPassword"}},
    {"webhook": {"urlSecretName": "webhookUrlChat"}},
    {"pubSub": {"topic": "projects/other-project/topics/llm.alerts"}},
]


def notify(config: Config, *channels: dict[str, Any]) -> None:
    config["llmd-gke:monitoring"] = {"notify": list(channels)}


def test_every_kind_of_channel_is_accepted(config: Config, accepted: Callable[..., Checked]) -> None:
    notify(config, *EVERY_KIND)
    checked = accepted(config)
    assert [channel.kinds for channel in checked.settings.monitoring.notify] == [
        (next(iter(channel)),) for channel in EVERY_KIND
    ]
    assert not checked.warnings or all("monitoring" not in one.key for one in checked.warnings)
    assert required_secrets(checked.settings) == [
        f"llmd-gke:{name}"
        for name in (
            "slackToken",
            "slackTokenOps",
            "pagerDutyKey",
            "pagerDutyKey2",
            "webhookPassword",
            "webhookUrlChat",
        )
    ]


def test_a_kind_that_does_not_exist_is_refused_with_those_that_do(config: Config, refused: Refuse) -> None:
    notify(config, {"pagerduty": {"serviceKey": PASTED}})
    message = refused(config)
    assert "llmd-gke:monitoring.notify[0].pagerduty\n    there is no such setting  [unknown-key]" in message
    assert "allowed: email, slack, pagerDuty, webhook, pubSub, minimumSeverity" in message
    assert "did you mean pagerDuty?" in message
    assert PASTED not in message


@pytest.mark.parametrize(
    ("channel", "given"),
    [({}, "none"), ({"email": "a@example.com", "pagerDuty": {}}, "email and pagerDuty")],
    ids=["none", "two"],
)
def test_a_channel_has_exactly_one_kind(config: Config, refused: Refuse, channel: dict[str, Any], given: str) -> None:
    notify(config, channel)
    message = refused(config)
    assert f"exactly one kind of channel, but this one has {given}  [notify-kind]" in message
    assert "allowed: email, slack, pagerDuty, webhook, pubSub" in message


@pytest.mark.parametrize(
    ("channel", "key", "rule"),
    [
        ({"email": "oncall"}, 'email = "oncall"', "notify-email"),
        ({"email": "a@b"}, 'email = "a@b"', "notify-email"),
        ({"slack": {"channel": "llm-alerts"}}, 'slack.channel = "llm-alerts"', "notify-slack"),
        ({"slack": {"channel": "#LLM"}}, 'slack.channel = "#LLM"', "notify-slack"),
        ({"pubSub": {"topic": "alerts"}}, 'pubSub.topic = "alerts"', "notify-topic"),
        ({"pubSub": {"topic": "projects/p-roject/topics/google"}}, "pubSub.topic", "notify-topic"),
        ({"webhook": {}}, "webhook", "notify-webhook"),
        ({"webhook": {"url": "https://a.example", "urlSecretName": "webhookUrl"}}, "webhook", "notify-webhook"),
        ({"webhook": {"url": "http://a.example/x"}}, "webhook", "notify-webhook"),
        ({"webhook": {"url": "https://a.example:x/"}}, "webhook", "notify-webhook"),
        ({"webhook": {"url": "https://a.example/x", "user": "gke"}}, "webhook", "notify-webhook"),
        (
            {"webhook": {"urlSecretName": "webhookUrl", "user": "gke", "secretName": "webhookPassword"}},
            "webhook",
            "notify-webhook",
        ),
        ({"slack": {"channel": "#a", "secretName": "hfToken"}}, "slack.secretName", "notify-secret"),
        ({"webhook": {"urlSecretName": "webhookPassword"}}, "webhook.urlSecretName", "notify-secret"),
    ],
)
def test_an_address_that_cannot_be_one_is_refused(
    config: Config, refused: Refuse, channel: dict[str, Any], key: str, rule: str
) -> None:
    notify(config, channel)
    message = refused(config, SECRETS)
    assert f"llmd-gke:monitoring.notify[0].{key}" in message
    assert f"[{rule}]" in message
    assert "fix: " in message


@pytest.mark.parametrize(
    "channel",
    [
        {"pagerDuty": {"secretName": PASTED}},
        {"slack": {"channel": "#a", "secretName": PASTED}},
        {"webhook": {"url": f"https://hooks.example.com/?token={PASTED}"}},
        {"webhook": {"url": f"https://gke:{PASTED}@hooks.example.com/"}},
        {"webhook": {"url": f"https://hooks.example.com/#{PASTED}"}},
    ],
)
def test_a_secret_pasted_into_a_channel_is_refused_and_not_repeated(
    config: Config, refused: Refuse, channel: dict[str, Any]
) -> None:
    notify(config, channel)
    message = refused(config)
    assert "pulumi config set --secret llmd-gke:" in message
    assert PASTED not in message


def test_the_same_channel_twice_is_refused(config: Config, refused: Refuse) -> None:
    notify(config, {"email": "a@example.com"}, {"email": "b@example.com"}, {"email": "a@example.com"})
    assert "llmd-gke:monitoring.notify[2]\n    the same channel is in the list twice" in refused(config)


def test_the_secret_of_a_channel_is_missing_until_it_is_set(
    config: Config, refused: Refuse, accepted: Callable[..., Checked]
) -> None:
    notify(config, {"slack": {"channel": "#llm", "secretName": "slackTokenOps"}})
    message = refused(config, ["llmd-gke:slackToken"])
    assert "llmd-gke:slackTokenOps\n    llmd-gke:monitoring.notify[0].slack.secretName names it" in message
    assert "pulumi config set --secret llmd-gke:slackTokenOps (then paste the OAuth token of the Slack app)" in message
    config["llmd-gke:slackTokenOps"] = {"secure": "v1:abc"}
    assert accepted(config, ["llmd-gke:slackTokenOps"])


def test_a_secret_with_a_suffix_is_a_secret_and_others_are_none() -> None:
    assert is_secret_key("llmd-gke:pagerDutyKeyNight")
    assert is_secret_key("llmd-gke:webhookUrl2")
    assert not is_secret_key("llmd-gke:slackTokens"), "a suffix begins with a capital or a digit"
    assert not is_secret_key("other:slackToken")
    assert not is_secret_key("llmd-gke:models")


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("availability", 0.99, "at least 95"),
        ("availability", 100, "at most 99.99"),
        ("firstTokenSeconds", 0, "at least 0.05"),
        ("interTokenMilliseconds", 20000, "at most 10000"),
    ],
)
def test_an_objective_out_of_range_is_refused_with_the_range(
    config: Config, refused: Refuse, key: str, value: float, allowed: str
) -> None:
    config["llmd-gke:models"][0]["objectives"] = {key: value}
    message = refused(config)
    assert f"llmd-gke:models[0].objectives.{key} = {value}" in message
    assert f"allowed: {allowed}" in message


def test_objectives_have_defaults_and_take_whole_numbers(config: Config, accepted: Callable[..., Checked]) -> None:
    config["llmd-gke:models"][0]["objectives"] = {"firstTokenSeconds": 2}
    objectives = accepted(config).settings.models[0].objectives
    assert objectives == ObjectivesSettings(availability=99, first_token_seconds=2, inter_token_milliseconds=200)


@pytest.mark.parametrize(("stack", "alerts"), [("prod", True), ("eu4a", True), ("local", True), ("dev", False)])
def test_shipped_stacks_alert_where_somebody_relies_on_them(
    stack: str, alerts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CLOUD_VARIABLE, "rehearsal")
    monitoring = load_stack(ROOT, stack).settings.monitoring
    assert (monitoring.alerts, monitoring.scrape) == (alerts, True)
