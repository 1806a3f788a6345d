"""Cloud Monitoring on the emulator: what Google refuses, and which secrets are kept nowhere."""

from __future__ import annotations

import pytest

from localcloud.tests.google_api.conftest import Client, Props

V3 = "monitoring.googleapis.com/v3/projects/my-project"
V1 = "monitoring.googleapis.com/v1/projects/my-project"
SLACK: Props = {"type": "slack", "labels": {"channel_name": "#llm", "auth_token": "xoxb-secret"}}
QUERY: Props = {
    "query": "max by (name) (inference_pool_ready_pods) == 0",
    "duration": "120s",
    "evaluationInterval": "60s",
    "alertRule": "ModelHasNoReadyReplica",
    "disableMetricValidation": True,
}
UPTIME: Props = {
    "displayName": "Front door",
    "timeout": "10s",
    "monitoredResource": {"type": "uptime_url", "labels": {"host": "llm.example.com"}},
    "httpCheck": {"path": "models/qwen/health", "useSsl": True, "validateSsl": True},
}
BOARD: Props = {
    "displayName": "Models",
    "mosaicLayout": {"columns": 12, "tiles": [{"width": 6, "height": 4, "widget": {"text": {"content": "Hello"}}}]},
}


def policy(**over: object) -> Props:
    condition = {"displayName": "it", "conditionPrometheusQueryLanguage": QUERY}
    return {"displayName": "Model has no ready replica", "combiner": "OR", "conditions": [condition], **over}


def queried(**over: object) -> Props:
    return policy(conditions=[{"displayName": "it", "conditionPrometheusQueryLanguage": {**QUERY, **over}}])


def made(client: Client, collection: str, body: Props) -> str:
    return client.ok("POST", f"{V3}/{collection}", body)["name"]


def at(name: str) -> str:
    return f"monitoring.googleapis.com/v3/{name}"


def series(**over: object) -> Props:
    point = {"interval": {"endTime": "2026-11-22T12:00:00Z"}, "value": {"int64Value": "3"}}
    one: Props = {
        "metric": {"type": "custom.googleapis.com/llmd_gke/drift", "labels": {"stack": "eu4a"}},
        "resource": {"type": "global", "labels": {"project_id": "my-project"}},
        "points": [point],
    }
    return {"timeSeries": [{**one, **over}]}


WIDE: Props = {"mosaicLayout": {"tiles": [{"xPos": 8, "width": 6, "height": 1}]}}
TWICE: Props = {"mosaicLayout": {"tiles": [{"width": 2, "height": 2}] * 2}}
POLICIES, CHANNELS, UPTIMES = f"{V3}/alertPolicies", f"{V3}/notificationChannels", f"{V3}/uptimeCheckConfigs"
BOARDS, POINTS = f"{V1}/dashboards", f"{V3}/timeSeries"


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        (POLICIES, policy(conditions=[]), "from 1 to 6"),
        (POLICIES, policy(displayName=""), "display_name"),
        (POLICIES, policy(alertStrategy={"autoClose": "60s"}), "auto_close"),
        (POLICIES, policy(documentation={"content": "x" * 8193}), "documentation.content"),
        (POLICIES, policy(userLabels={"Model": "qwen"}), "user_labels"),
        (POLICIES, policy(severity="INFO"), "severity"),
        (POLICIES, policy(severities="x"), 'Unknown name "severities"'),
        (POLICIES, queried(query=""), "query must be specified"),
        (POLICIES, queried(evaluationInterval="45s"), "evaluation_interval"),
        (POLICIES, queried(duration="2m"), "duration"),
        (POLICIES, queried(alertRule="model lost"), "alert_rule"),
        (POLICIES, queried(labels={"a-b": "c"}), "labels"),
        (POLICIES, queried(disableMetricValidation=False), "does not exist"),
        (CHANNELS, {"type": "carrier-pigeon"}, "Unrecognized channel type"),
        (CHANNELS, {"type": "email", "labels": {}}, "email_address"),
        (CHANNELS, {"type": "slack", "labels": {"channel_name": "#llm"}}, "auth_token"),
        (CHANNELS, {"type": "pubsub", "labels": {"topic": "t", "url": "u"}}, "unrecognized key"),
        (UPTIMES, {**UPTIME, "timeout": "61s"}, "timeout"),
        (UPTIMES, {**UPTIME, "period": "30s"}, "period"),
        (UPTIMES, {**UPTIME, "displayName": ""}, "display_name"),
        (UPTIMES, {**UPTIME, "httpCheck": None}, ""),
        (BOARDS, {**BOARD, "displayName": ""}, "display_name"),
        (BOARDS, {**BOARD, "panels": []}, 'Unknown name "panels"'),
        (BOARDS, {**BOARD, "gridLayout": {}}, "oneof"),
        (BOARDS, {"displayName": "x", **WIDE}, "does not fit"),
        (BOARDS, {"displayName": "x", **TWICE}, "overlaps tiles[0]"),
        (POINTS, series(metric={"type": "kubernetes.io/x"}), "metric"),
        (POINTS, series(resource={"type": "bucket"}), "resource"),
        (POINTS, series(points=[]), "point"),
    ],
)
def test_what_google_refuses_is_refused(client: Client, path: str, body: Props, says: str) -> None:
    status, _, message = client.refused("POST", path, body)
    assert (status, says in message) == (400, True), message


def test_what_a_policy_names_has_to_be_there_and_stays(client: Client) -> None:
    absent = "projects/my-project/notificationChannels/1"
    assert "channel not found" in client.refused("POST", POLICIES, policy(notificationChannels=[absent]))[2]
    channel, check = made(client, "notificationChannels", SLACK), made(client, "uptimeCheckConfigs", UPTIME)
    query = f'check_passed{{check_id="{check.rpartition("/")[2]}"}} == 0'
    made(client, "alertPolicies", {**queried(query=query), "notificationChannels": [channel]})
    assert "still being referenced by" in client.refused("DELETE", at(channel))[2]
    assert "using it" in client.refused("DELETE", at(check))[2]


def test_secrets_of_channels_and_uptime_checks_are_neither_shown_nor_kept(client: Client) -> None:
    channel = made(client, "notificationChannels", SLACK)
    assert client.ok("GET", at(channel))["labels"] == {"channel_name": "#llm", "auth_token": "******"}
    login = {"authInfo": {"username": "a", "password": "hunter2"}, "headers": {"X-Key": "hunter2"}, "maskHeaders": True}
    read = client.ok("GET", at(made(client, "uptimeCheckConfigs", {**UPTIME, "httpCheck": login})))
    assert read["httpCheck"]["authInfo"] == {"username": "a", "password": "******"}
    assert read["httpCheck"]["headers"] == {"X-Key": "******"}
    folder = client.cloud.folder
    kept = "".join(file.read_text() for file in folder.iterdir())
    assert "uptimeCheckConfigs" in kept
    assert not [secret for secret in ("xoxb-secret", "hunter2") if secret in kept]
