from __future__ import annotations

from typing import Any

import pytest

from llmd_gke.settings import required_secrets
from llmd_gke.settings.secret_keys import is_secret_key
from llmd_gke.settings.sections.objectives import ObjectivesSettings
from tests.llmd_gke.settings.conftest import Accept, Config, Refuse

PASTED = "b4a1f2c3d4e5f60718293a4b5c6d7e8f"
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


def test_every_kind_of_channel_is_accepted(config: Config, accepted: Accept) -> None:
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


def test_the_secret_of_a_channel_is_missing_until_it_is_set(config: Config, refused: Refuse, accepted: Accept) -> None:
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


def test_objectives_have_defaults_and_take_whole_numbers(config: Config, accepted: Accept) -> None:
    config["llmd-gke:models"][0]["objectives"] = {"firstTokenSeconds": 2}
    objectives = accepted(config).settings.models[0].objectives
    assert objectives == ObjectivesSettings(availability=99, first_token_seconds=2, inter_token_milliseconds=200)
