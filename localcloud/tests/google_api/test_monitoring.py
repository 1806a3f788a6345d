"""Cloud Monitoring on the emulator: what Google keeps, adds and refuses."""

from __future__ import annotations

import pytest

from localcloud.tests.google_api.conftest import Client, Props

V3 = "monitoring.googleapis.com/v3/projects/my-project"
V1 = "monitoring.googleapis.com/v1/projects/my-project"
EMAIL: Props = {"type": "email", "displayName": "On call", "labels": {"email_address": "oncall@example.com"}}
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


def policy(*channels: str, **over: object) -> Props:
    condition = {"displayName": "it", "conditionPrometheusQueryLanguage": QUERY}
    return {
        "displayName": "Model has no ready replica",
        "combiner": "OR",
        "conditions": [condition],
        "notificationChannels": list(channels),
        **over,
    }


def queried(**over: object) -> Props:
    return policy(conditions=[{"displayName": "it", "conditionPrometheusQueryLanguage": {**QUERY, **over}}])


def made(client: Client, collection: str, body: Props) -> str:
    return client.ok("POST", f"{V3}/{collection}", body)["name"]


def at(name: str) -> str:
    return f"monitoring.googleapis.com/v3/{name}"


def test_a_policy_has_the_name_that_google_assigns_and_names_for_its_conditions(client: Client) -> None:
    name = made(client, "alertPolicies", policy(made(client, "notificationChannels", EMAIL)))
    read = client.ok("GET", at(name))
    assert name.startswith("projects/my-project/alertPolicies/")
    assert name.rpartition("/")[2].isdecimal()
    assert read["enabled"] is True
    assert read["conditions"][0]["name"].startswith(f"{name}/conditions/")
    assert [one["name"] for one in client.ok("GET", f"{V3}/alertPolicies")["alertPolicies"]] == [name]


def test_two_policies_of_the_same_name_are_two(client: Client) -> None:
    assert made(client, "alertPolicies", policy()) != made(client, "alertPolicies", policy())


def test_a_policy_that_names_a_channel_that_does_not_exist_is_refused(client: Client) -> None:
    missing = "projects/my-project/notificationChannels/1"
    assert client.refused("POST", f"{V3}/alertPolicies", policy(missing)) == (
        404,
        "notFound",
        f"Notification channel not found: {missing}",
    )
    name = made(client, "alertPolicies", policy())
    change: Props = {"notificationChannels": [missing]}
    assert client.refused("PATCH", at(name), change, updateMask="notificationChannels")[0] == 404


def test_a_channel_that_a_policy_names_stays_unless_forced(client: Client) -> None:
    channel = made(client, "notificationChannels", EMAIL)
    name = made(client, "alertPolicies", policy(channel))
    status, _, message = client.refused("DELETE", at(channel))
    assert (status, name in message) == (400, True)
    client.ok("DELETE", at(channel), force="true")
    assert client.ok("GET", at(name))["notificationChannels"] == []


def test_only_what_the_mask_names_changes(client: Client) -> None:
    name = made(client, "alertPolicies", policy())
    client.ok("PATCH", at(name), {"enabled": False, "displayName": "Other"}, updateMask="enabled")
    read = client.ok("GET", at(name))
    assert (read["enabled"], read["displayName"]) == (False, "Model has no ready replica")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (policy(conditions=[]), "from 1 to 6"),
        (policy(displayName=""), "display_name"),
        (policy(alertStrategy={"autoClose": "60s"}), "auto_close"),
        (policy(documentation={"content": "x" * 8193}), "documentation.content"),
        (policy(userLabels={"Model": "qwen"}), "user_labels"),
        (policy(severity="INFO"), "severity"),
        (policy(severities="x"), 'Unknown name "severities"'),
        (queried(query=""), "query must be specified"),
        (queried(evaluationInterval="45s"), "evaluation_interval"),
        (queried(duration="2m"), "duration"),
        (queried(alertRule="model lost"), "alert_rule"),
        (queried(labels={"a-b": "c"}), "labels"),
        (queried(disableMetricValidation=False), "does not exist"),
    ],
)
def test_a_policy_that_google_refuses_is_refused(client: Client, body: Props, says: str) -> None:
    status, _, message = client.refused("POST", f"{V3}/alertPolicies", body)
    assert status == 400
    assert says in message


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"type": "carrier-pigeon"}, "Unrecognized channel type"),
        ({"type": "email", "labels": {}}, "email_address"),
        ({"type": "slack", "labels": {"channel_name": "#llm"}}, "auth_token"),
        ({"type": "pubsub", "labels": {"topic": "t", "url": "u"}}, "unrecognized key"),
    ],
)
def test_a_channel_without_what_its_type_needs_is_refused(client: Client, body: Props, says: str) -> None:
    status, _, message = client.refused("POST", f"{V3}/notificationChannels", body)
    assert (status, says in message) == (400, True)


def test_a_channels_secret_is_neither_shown_nor_kept_nor_written_down(client: Client) -> None:
    name = made(client, "notificationChannels", SLACK)
    assert client.ok("GET", at(name))["labels"] == {"channel_name": "#llm", "auth_token": "******"}
    written = [file.read_text() for file in client.cloud.folder.iterdir() if file.is_file()]
    assert written
    assert not [one for one in written if "xoxb-secret" in one]


def test_an_uptime_check_has_what_google_adds(client: Client) -> None:
    read = client.ok("GET", at(made(client, "uptimeCheckConfigs", UPTIME)))
    assert read["monitoredResource"]["labels"] == {"host": "llm.example.com", "project_id": "my-project"}
    assert {key: read["httpCheck"][key] for key in ("path", "port", "requestMethod")} == {
        "path": "/models/qwen/health",
        "port": 443,
        "requestMethod": "GET",
    }


def test_the_id_of_an_uptime_check_begins_with_its_name(client: Client) -> None:
    assert made(client, "uptimeCheckConfigs", UPTIME).startswith("projects/my-project/uptimeCheckConfigs/front-door-")


def test_what_an_uptime_check_says_itself_stays(client: Client) -> None:
    read = client.ok("GET", at(made(client, "uptimeCheckConfigs", {**UPTIME, "period": "300s"})))
    assert (read["period"], read["checkerType"]) == ("300s", "STATIC_IP_CHECKERS")


def test_passwords_and_masked_headers_of_an_uptime_check_are_not_kept(client: Client) -> None:
    login = {"authInfo": {"username": "a", "password": "hunter2"}, "headers": {"X-Key": "hunter2"}, "maskHeaders": True}
    read = client.ok("GET", at(made(client, "uptimeCheckConfigs", {**UPTIME, "httpCheck": login})))
    assert read["httpCheck"]["authInfo"] == {"username": "a", "password": "******"}
    assert read["httpCheck"]["headers"] == {"X-Key": "******"}
    kept = [client.cloud.folder / name for name in ("google-api.json", "google.json")]
    assert not [file for file in kept if "hunter2" in file.read_text()]


@pytest.mark.parametrize("over", [{"timeout": "61s"}, {"period": "30s"}, {"displayName": ""}, {"httpCheck": None}])
def test_an_uptime_check_that_google_refuses_is_refused(client: Client, over: Props) -> None:
    assert client.refused("POST", f"{V3}/uptimeCheckConfigs", {**UPTIME, **over})[0] == 400


def test_an_uptime_check_that_a_policy_asks_for_stays(client: Client) -> None:
    check = made(client, "uptimeCheckConfigs", UPTIME)
    ident = check.rpartition("/")[2]
    asking = queried(query=f'monitoring_googleapis_com:uptime_check_check_passed{{check_id="{ident}"}} == 0')
    name = made(client, "alertPolicies", asking)
    assert "using it" in client.refused("DELETE", at(check))[2]
    client.ok("DELETE", at(name))
    client.ok("DELETE", at(check))
    assert client.seen()["resources"] == {}


def test_a_dashboard_changes_only_with_the_etag_that_was_read(client: Client) -> None:
    name = client.ok("POST", f"{V1}/dashboards", BOARD)["name"]
    path = f"monitoring.googleapis.com/v1/{name}"
    read = client.ok("GET", path)
    client.ok("PATCH", path, {**BOARD, "displayName": "Other", "etag": read["etag"]})
    assert client.ok("GET", path)["displayName"] == "Other"
    assert client.refused("PATCH", path, {**BOARD, "etag": read["etag"]})[:2] == (409, "aborted")
    client.ok("DELETE", path)
    assert client.refused("GET", path)[0] == 404


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({**BOARD, "displayName": ""}, "display_name"),
        ({**BOARD, "panels": []}, 'Unknown name "panels"'),
        ({**BOARD, "gridLayout": {}}, "oneof"),
        ({"displayName": "x", "mosaicLayout": {"tiles": [{"xPos": 8, "width": 6, "height": 1}]}}, "does not fit"),
        ({"displayName": "x", "mosaicLayout": {"tiles": [{"width": 2, "height": 2}] * 2}}, "overlaps tiles[0]"),
    ],
)
def test_a_dashboard_that_google_refuses_is_refused(client: Client, body: Props, says: str) -> None:
    status, _, message = client.refused("POST", f"{V1}/dashboards", body)
    assert (status, says in message) == (400, True)


def test_a_dashboard_that_is_only_validated_is_not_kept(client: Client) -> None:
    client.ok("POST", f"{V1}/dashboards", BOARD, validateOnly="true")
    assert client.seen()["resources"] == {}


def series(**over: object) -> Props:
    point = {"interval": {"endTime": "2026-11-22T12:00:00Z"}, "value": {"int64Value": "3"}}
    one: Props = {
        "metric": {"type": "custom.googleapis.com/llmd_gke/drift", "labels": {"stack": "eu4a"}},
        "resource": {"type": "global", "labels": {"project_id": "my-project"}},
        "points": [point],
    }
    return {"timeSeries": [{**one, **over}]}


def test_a_point_of_a_custom_metric_is_taken(client: Client) -> None:
    assert client.ok("POST", f"{V3}/timeSeries", series()) == {}


@pytest.mark.parametrize(
    "over", [{"metric": {"type": "kubernetes.io/x"}}, {"resource": {"type": "bucket"}}, {"points": []}]
)
def test_a_point_that_google_refuses_is_refused(client: Client, over: Props) -> None:
    assert client.refused("POST", f"{V3}/timeSeries", series(**over))[0] == 400


def test_nothing_works_where_the_api_is_not_usable_yet(bare: Client) -> None:
    bare.faults({"fault": "error", "method": "monitoring.projects.alertPolicies.create", "code": 403})
    assert bare.refused("POST", f"{V3}/alertPolicies", policy())[0] == 403
