"""Channels, alerting policies, dashboards and uptime checks of the rehearsal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from localcloud.tests.providers.conftest import Standin

CHANNEL = "gcp:monitoring/notificationChannel:NotificationChannel"
POLICY = "gcp:monitoring/alertPolicy:AlertPolicy"
DASHBOARD = "gcp:monitoring/dashboard:Dashboard"
UPTIME_CHECK = "gcp:monitoring/uptimeCheckConfig:UptimeCheckConfig"
Props = dict[str, Any]
SLACK: Props = {
    "type": "slack",
    "labels": {"channel_name": "#llm"},
    "sensitiveLabels": {"authToken": "xoxb-secret"},
}
QUERY: Props = {"query": "inference_pool_ready_pods == 0", "duration": "120s", "disableMetricValidation": True}
CHECK: Props = {
    "displayName": "Front door",
    "timeout": "10s",
    "monitoredResource": {"type": "uptime_url", "labels": {"host": "llm.example.com"}},
    "httpCheck": {"path": "/models/qwen/health", "useSsl": True},
}


def policy(*channels: str, **over: object) -> Props:
    condition = {"displayName": "it", "conditionPrometheusQueryLanguage": {**QUERY, **over}}
    return {"displayName": "Down", "combiner": "OR", "conditions": [condition], "notificationChannels": list(channels)}


def test_names_are_assigned_and_differ(google: Standin) -> None:
    first, second = (google.create(POLICY, policy(), name=name) for name in ("one", "two"))
    assert first.id != second.id
    assert first.outputs["name"] == first.id
    assert first.id.startswith("projects/rehearsal/alertPolicies/")


def test_a_policy_needs_the_channel_that_it_names_and_the_channel_stays_as_long(google: Standin) -> None:
    with pytest.raises(Exception, match="Notification channel not found"):
        google.create(POLICY, policy("projects/my-project/notificationChannels/1"))
    channel = google.create(CHANNEL, SLACK)
    google.create(POLICY, policy(channel.id))
    with pytest.raises(Exception, match="still being referenced by"):
        google.delete(CHANNEL, channel)


def test_a_channels_token_is_secret_and_not_in_any_file(google: Standin) -> None:
    made = google.create(CHANNEL, SLACK)
    assert ("sensitiveLabels", "authToken") in made.secrets or ("sensitiveLabels",) in made.secrets
    written = [file for file in google.folder.rglob("*.json") if "xoxb-secret" in file.read_text()]
    assert written == []


@pytest.mark.parametrize(
    ("kind", "inputs", "says"),
    [
        (CHANNEL, {"type": "slack", "labels": {"channel_name": "#llm"}}, "auth_token"),
        (POLICY, policy(disableMetricValidation=False), "does not exist"),
        (UPTIME_CHECK, {**CHECK, "timeout": "90s"}, "timeout"),
        (DASHBOARD, {"dashboardJson": json.dumps({"gridLayout": {}})}, "display_name"),
    ],
)
def test_what_google_refuses_is_refused(google: Standin, kind: str, inputs: Props, says: str) -> None:
    with pytest.raises(Exception, match=says):
        google.create(kind, inputs)


@pytest.mark.parametrize(
    ("kind", "inputs", "says"),
    [
        (POLICY, {**policy(), "severity": "INFO"}, "severity"),
        (DASHBOARD, {"dashboardJson": "{"}, "invalid JSON"),
        (CHANNEL, {**SLACK, "sensitiveLabels": {"authToken": "a", "password": "b"}}, "exactly one"),
        (CHANNEL, {**SLACK, "labels": {"auth_token": "b"}}, "same time"),
    ],
)
def test_what_the_provider_refuses_is_refused_in_a_plan(google: Standin, kind: str, inputs: Props, says: str) -> None:
    with pytest.raises(Exception, match=says):
        google.check(kind, inputs)


def test_an_uptime_check_that_a_policy_asks_for_stays(google: Standin) -> None:
    check = google.create(UPTIME_CHECK, CHECK)
    google.create(POLICY, policy(query=f'check_passed{{check_id="{check.outputs["uptimeCheckId"]}"}} == 0'))
    with pytest.raises(Exception, match="using it"):
        google.delete(UPTIME_CHECK, check)


def test_another_host_is_another_check_beside_the_old_one(google: Standin) -> None:
    old = google.create(UPTIME_CHECK, CHECK)
    resource = {"type": "uptime_url", "labels": {"host": "other.example.com"}}
    assert google.diff(UPTIME_CHECK, old, {**CHECK, "monitoredResource": resource}).replaces
    assert google.create(UPTIME_CHECK, {**CHECK, "monitoredResource": resource}).id != old.id
