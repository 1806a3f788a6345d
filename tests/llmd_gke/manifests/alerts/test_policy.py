from __future__ import annotations

import re
from typing import Any, cast

import pytest

from llmd_gke.manifests.alerts import alert_policy, alerts, channels, channels_of
from llmd_gke.settings import StackSettings
from localcloud.google_api.core import discovery
from tests.llmd_gke.manifests.alerts.conftest import MODEL, MakeStack


def policies(stack: StackSettings) -> list[dict[str, Any]]:
    return [cast("Any", alert_policy(alert, stack)) for alert in alerts(stack)]


def condition(policy: dict[str, Any]) -> dict[str, Any]:
    return policy["conditions"][0]["conditionPrometheusQueryLanguage"]


def test_limits_that_the_api_states_are_kept(make_stack: MakeStack) -> None:
    name = "a-model-with-the-longest-name-38-chars"
    stack = make_stack(models=[{**MODEL, "name": name}])
    for policy in policies(stack):
        documentation, asked = policy["documentation"], condition(policy)
        assert len(policy["displayName"]) <= 512
        assert len(documentation["content"].encode()) <= 8192
        assert len(documentation["subject"].encode()) <= 255
        assert re.fullmatch(r"\d+s", asked["duration"])
        assert int(asked["evaluationInterval"][:-1]) % 30 == 0
        assert int(policy["alertStrategy"]["autoClose"][:-1]) >= 1800
        assert re.fullmatch(r"[a-zA-Z_]\w*", asked["alertRule"])
        assert len(asked["query"]) <= 10_000
        for key, value in policy["userLabels"].items():
            assert re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", key)
            assert re.fullmatch(r"[a-z0-9_-]{0,63}", value)


def test_a_policy_asks_the_expression_and_may_exist_before_its_metric(stack: StackSettings) -> None:
    pairs = list(zip(alerts(stack), policies(stack), strict=True))
    assert pairs
    for alert, policy in pairs:
        asked = condition(policy)
        assert asked["query"] == alert.expression
        assert asked["duration"] == f"{alert.seconds}s"
        assert asked["disableMetricValidation"] is True
        assert asked["labels"]["severity"] == alert.severity


def test_a_policy_says_what_to_do_and_links_to_the_runbook_where_it_is_published(make_stack: MakeStack) -> None:
    page = "https://git.example.com/llm/blob/main/docs/alerts.md"
    stack = make_stack(monitoring={"runbookUrl": page})
    for alert, policy in zip(alerts(stack), policies(stack), strict=True):
        documentation = policy["documentation"]
        assert all(step in documentation["content"] for step in alert.do)
        assert documentation["links"] == [{"displayName": "Runbook", "url": f"{page}#{alert.name.lower()}"}]
    unpublished = policies(make_stack())
    assert not any("links" in policy["documentation"] for policy in unpublished)
    assert all("docs/alerts.md#" in policy["documentation"]["content"] for policy in unpublished)


@pytest.mark.parametrize(
    ("given", "kind", "labels", "secrets"),
    [
        ({"email": "a@example.com"}, "email", {"email_address": "a@example.com"}, {}),
        ({"slack": {"channel": "#llm"}}, "slack", {"channel_name": "#llm"}, {"auth_token": "slackToken"}),
        ({"pagerDuty": {"secretName": "pagerDutyKey2"}}, "pagerduty", {}, {"service_key": "pagerDutyKey2"}),
        ({"pubSub": {"topic": "projects/p-1234/topics/a-b"}}, "pubsub", {"topic": "projects/p-1234/topics/a-b"}, {}),
        ({"webhook": {"url": "https://h.example/x"}}, "webhook_tokenauth", {"url": "https://h.example/x"}, {}),
        ({"webhook": {"urlSecretName": "webhookUrl"}}, "webhook_tokenauth", {}, {"url": "webhookUrl"}),
        (
            {"webhook": {"url": "https://h.example/x", "user": "gke", "secretName": "webhookPassword"}},
            "webhook_basicauth",
            {"url": "https://h.example/x", "username": "gke"},
            {"password": "webhookPassword"},
        ),
    ],
)
def test_a_channel_has_the_type_and_labels_of_its_kind(
    make_stack: MakeStack, given: dict[str, Any], kind: str, labels: dict[str, str], secrets: dict[str, str]
) -> None:
    (channel,) = channels(make_stack(monitoring={"notify": [given]}))
    assert (channel.type, channel.labels, channel.secrets) == (kind, labels, secrets)
    assert channel.display_name.startswith("llmd: ")
    body = {"type": channel.type, "displayName": channel.display_name, "labels": channel.labels}
    assert list(discovery.problems("monitoring.v3", "NotificationChannel", cast("Any", body))) == []


def test_the_key_of_a_channel_does_not_depend_on_the_others(make_stack: MakeStack) -> None:
    first, second = {"email": "a@example.com"}, {"slack": {"channel": "#llm"}}
    alone = channels(make_stack(monitoring={"notify": [second]}))
    both = channels(make_stack(monitoring={"notify": [first, second]}))
    quieter = channels(make_stack(monitoring={"notify": [{**second, "minimumSeverity": "critical"}]}))
    assert alone[0].key == both[1].key == quieter[0].key
    assert both[0].key != both[1].key


@pytest.mark.parametrize(
    ("least", "taken"),
    [("info", {"critical", "warning", "info"}), ("warning", {"critical", "warning"}), ("critical", {"critical"})],
)
def test_a_channel_gets_alerts_from_its_least_severity_on(make_stack: MakeStack, least: str, taken: set[str]) -> None:
    stack = make_stack(monitoring={"notify": [{"email": "a@example.com", "minimumSeverity": least}]})
    among = channels(stack)
    assert {alert.severity for alert in alerts(stack) if channels_of(alert, among)} == taken
