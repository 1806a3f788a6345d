"""What Cloud Monitoring gets of a stack: channels, policies, dashboard, uptime checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from llmd_common.pulumi_signatures import is_secret
from llmd_gke.graph.recording import Graph, ResourceNode
from tests.components import kinds
from tests.components.kinds import of

CHANNEL = "gcp:monitoring/notificationChannel:NotificationChannel"
POLICY = "gcp:monitoring/alertPolicy:AlertPolicy"
DASHBOARD = "gcp:monitoring/dashboard:Dashboard"
UPTIME_CHECK = "gcp:monitoring/uptimeCheckConfig:UptimeCheckConfig"
COMPONENT = "llmd-gke:monitoring:CloudMonitoring"
SECRET = "xoxb-token-of-tests"
HOOK = "https://hooks.example.com/in/TOKEN-OF-TESTS"
HTTPS = {
    "exposure": "external",
    "open": True,
    "domain": "llm.example.com",
    "tls": {"certificateManager": ["llm-example-com"]},
}


def notified(*channels: Mapping[str, object], **more: str) -> dict[str, object]:
    return {"llmd-gke:monitoring": {"notify": list(channels)}, **{f"llmd-gke:{key}": one for key, one in more.items()}}


def body(node: ResourceNode, *path: str) -> Any:
    value: Any = node.inputs
    for key in path:
        value = value[key]
    return value


def test_every_policy_names_the_channels_that_take_its_severity_and_waits_for_them(
    record: Callable[..., Graph],
) -> None:
    graph = record(
        notified({"email": "all@example.com"}, {"email": "night@example.com", "minimumSeverity": "critical"})
    )
    channels = {body(node, "labels", "email_address"): node for node in of(CHANNEL)(graph)}
    assert channels.keys() == {"all@example.com", "night@example.com"}
    policies = of(POLICY)(graph)
    severe = [node for node in policies if node.inputs.get("severity") == "CRITICAL"]
    assert 0 < len(severe) < len(policies)
    for node in policies:
        names = body(node, "notificationChannels")
        assert len(names) == (2 if node in severe else 1), node.name
        assert graph.comes_before(channels["all@example.com"], node)
        assert graph.comes_before(channels["night@example.com"], node) == (node in severe)


def test_a_channels_token_is_secret_and_nowhere_else(record: Callable[..., Graph]) -> None:
    graph = record(notified({"slack": {"channel": "#llm"}}, slackToken=SECRET))
    (channel,) = of(CHANNEL)(graph)
    assert is_secret(body(channel, "sensitiveLabels", "authToken")) or is_secret(body(channel, "sensitiveLabels"))
    assert SECRET not in str(channel.inputs["labels"])
    assert [node.name for node in graph.nodes.values() if node is not channel and SECRET in str(node)] == []


def test_an_address_with_a_token_in_it_is_secret_although_google_shows_it(record: Callable[..., Graph]) -> None:
    graph = record(notified({"webhook": {"urlSecretName": "webhookUrl"}}, webhookUrl=HOOK))
    (channel,) = of(CHANNEL)(graph)
    assert is_secret(body(channel, "labels")) or is_secret(body(channel, "labels", "url"))
    assert channel.inputs["type"] == "webhook_tokenauth"


def test_a_password_of_a_webhook_is_sensitive_and_its_user_is_not(record: Callable[..., Graph]) -> None:
    hook = {"url": "https://hooks.example.com/in", "user": "gke", "secretName": "webhookPassword"}
    graph = record(notified({"webhook": hook}, webhookPassword=SECRET))
    (channel,) = of(CHANNEL)(graph)
    assert channel.inputs["labels"] == {"url": "https://hooks.example.com/in", "username": "gke"}
    assert is_secret(body(channel, "sensitiveLabels", "password")) or is_secret(body(channel, "sensitiveLabels"))


def test_a_channel_keeps_its_identity_wherever_it_is_in_the_list(record: Callable[..., Graph]) -> None:
    first, second = {"email": "a@example.com"}, {"pubSub": {"topic": "projects/my-project/topics/alerts"}}
    before, after = (
        {node.urn for node in of(CHANNEL)(record(notified(*some)))} for some in ((first, second), (second, first))
    )
    assert len(before) == 2
    assert before == after


def test_uptime_checks_take_the_path_that_clients_take(record: Callable[..., Graph]) -> None:
    (check,) = of(UPTIME_CHECK)(record({"llmd-gke:gateway": HTTPS}))
    assert check.inputs["monitoredResource"] == {
        "type": "uptime_url",
        "labels": {"project_id": "my-project", "host": "llm.example.com"},
    }
    assert check.inputs["httpCheck"] == {"path": "/models/qwen/health", "useSsl": True, "validateSsl": True}


def test_a_front_door_passes_its_check_by_refusing_it(record: Callable[..., Graph]) -> None:
    graph = record(
        {
            "llmd-gke:gateway": {key: value for key, value in HTTPS.items() if key != "open"},
            "llmd-gke:frontDoor": {"callers": [{"name": "team-a"}]},
            "llmd-gke:callerKeys": {"team-a": "a" * 40},
        }
    )
    (check,) = of(UPTIME_CHECK)(graph)
    assert check.name == "cloud-monitoring-uptime-of-front-door"
    path = {"path": "/v1/models", "useSsl": True, "validateSsl": True}
    assert check.inputs["httpCheck"] == {**path, "acceptedResponseStatusCodes": [{"statusValue": 401.0}]}


def test_without_a_domain_the_gateways_address_is_called(record: Callable[..., Graph]) -> None:
    graph = record({"llmd-gke:gateway": {"exposure": "external", "allowPlainHttp": True, "open": True}})
    (check,), (address,) = of(UPTIME_CHECK)(graph), of(kinds.ADDRESS)(graph)
    assert graph.comes_before(address, check)
    assert body(check, "httpCheck", "validateSsl") is False


@pytest.mark.parametrize(
    "changes",
    [{"llmd-gke:gateway": {"exposure": "internal"}}, {"llmd-gke:monitoring": {"uptimeCheck": False}}],
    ids=["internal", "switched off"],
)
def test_an_internal_gateway_is_not_checked_from_outside(
    record: Callable[..., Graph], changes: dict[str, object]
) -> None:
    assert of(UPTIME_CHECK)(record(changes)) == []


def test_without_alerts_nobody_is_notified_and_the_dashboard_stays(record: Callable[..., Graph]) -> None:
    graph = record({"llmd-gke:monitoring": {"alerts": False, "notify": [{"email": "a@example.com"}]}})
    assert of(POLICY)(graph) + of(CHANNEL)(graph) == []
    assert len(of(DASHBOARD)(graph)) == 1


def test_with_everything_off_nothing_is_made(record: Callable[..., Graph]) -> None:
    graph = record({"llmd-gke:monitoring": {"alerts": False, "dashboard": False, "uptimeCheck": False}})
    assert of(COMPONENT)(graph) == []


def test_nothing_of_it_waits_for_the_cluster_and_all_of_it_for_the_api(graph: Graph) -> None:
    made = [node for node in graph.nodes.values() if node.type.startswith("gcp:monitoring/")]
    assert made
    apis, clusters = of(kinds.API)(graph), of(kinds.CLUSTER)(graph)
    assert all(graph.comes_before(api, node) for api in apis for node in made)
    assert not any(graph.comes_before(cluster, node) for cluster in clusters for node in made)


def test_the_dashboards_link_is_an_output_unless_there_is_none(record: Callable[..., Graph]) -> None:
    url = str(record().outputs["dashboardUrl"])
    assert url.startswith("https://console.cloud.google.com/monitoring/dashboards/builder/")
    assert url.endswith("?project=my-project")
    assert "dashboardUrl" not in record({"llmd-gke:monitoring": {"dashboard": False}}).outputs
