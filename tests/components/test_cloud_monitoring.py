"""What Cloud Monitoring gets of a stack: channels, policies, dashboard, uptime checks."""

from __future__ import annotations

from typing import Any

from llmd_common.pulumi_signatures import is_secret
from llmd_gke.graph.recording import Graph, ResourceNode
from tests.components import kinds
from tests.components.conftest import of_stack
from tests.components.kinds import of
from tests.components.variants import variant

CHANNEL = "gcp:monitoring/notificationChannel:NotificationChannel"
POLICY = "gcp:monitoring/alertPolicy:AlertPolicy"
DASHBOARD = "gcp:monitoring/dashboard:Dashboard"
UPTIME_CHECK = "gcp:monitoring/uptimeCheckConfig:UptimeCheckConfig"
COMPONENT = "llmd-gke:monitoring:CloudMonitoring"


def body(node: ResourceNode, *path: str) -> Any:
    value: Any = node.inputs
    for key in path:
        value = value[key]
    return value


def channel(kind: str) -> ResourceNode:
    (made,) = [node for node in of(CHANNEL)(variant("edge")) if node.inputs["type"] == kind]
    return made


def test_every_policy_names_the_channels_that_take_its_severity_and_waits_for_them() -> None:
    graph = variant("edge")
    channels = {body(node, "labels").get("email_address"): node for node in of(CHANNEL)(graph)}
    policies = of(POLICY)(graph)
    severe = [node for node in policies if node.inputs.get("severity") == "CRITICAL"]
    assert 0 < len(severe) < len(policies)
    for node in policies:
        assert len(body(node, "notificationChannels")) == (5 if node in severe else 4), node.name
        assert graph.comes_before(channels["all@example.com"], node)
        assert graph.comes_before(channels["night@example.com"], node) == (node in severe)


def test_a_channels_secrets_are_secret_and_nowhere_else() -> None:
    graph = variant("edge")
    slack, address, hook = (channel(kind) for kind in ("slack", "webhook_tokenauth", "webhook_basicauth"))
    assert is_secret(body(slack, "sensitiveLabels", "authToken")) or is_secret(body(slack, "sensitiveLabels"))
    assert is_secret(body(address, "labels")) or is_secret(body(address, "labels", "url")), "although Google shows it"
    assert hook.inputs["labels"] == {"url": "https://hooks.example.com/in", "username": "gke"}
    assert is_secret(body(hook, "sensitiveLabels", "password")) or is_secret(body(hook, "sensitiveLabels"))
    for secret, holder in (("xoxb-token", slack), ("in/token-of-tests", address), ("password-of-tests", hook)):
        assert [node.name for node in graph.nodes.values() if secret in str(node)] == [holder.name]


def test_uptime_checks_take_the_path_that_clients_take() -> None:
    checks = {str(check.inputs["httpCheck"]["path"]): check for check in of(UPTIME_CHECK)(variant("edge"))}  # pyright: ignore
    check = checks["/models/qwen/health"]
    assert check.inputs["monitoredResource"] == {
        "type": "uptime_url",
        "labels": {"project_id": "my-project", "host": "llm.example.com"},
    }
    assert check.inputs["httpCheck"] == {"path": "/models/qwen/health", "useSsl": True, "validateSsl": True}


def test_a_front_door_passes_its_check_by_refusing_it_at_the_gateways_address() -> None:
    graph = of_stack("eu4a", preview=False, shipped=True)
    (check,), (address,) = of(UPTIME_CHECK)(graph), of(kinds.ADDRESS)(graph)
    assert check.name == "cloud-monitoring-uptime-of-front-door"
    assert body(check, "httpCheck", "path") == "/v1/models"
    assert body(check, "httpCheck", "acceptedResponseStatusCodes") == [{"statusValue": 401.0}]
    assert body(check, "httpCheck", "validateSsl") is False
    assert graph.comes_before(address, check)


def test_what_settings_leave_out_is_not_made() -> None:
    internal, without_alerts, off = variant("storage"), of_stack("gpu", preview=True), variant("bare")
    assert of(POLICY)(internal)
    assert of(UPTIME_CHECK)(internal) == []
    assert of(POLICY)(without_alerts) + of(CHANNEL)(without_alerts) == []
    assert len(of(DASHBOARD)(without_alerts)) == 1
    assert (of(COMPONENT)(off), "dashboardUrl" in off.outputs) == ([], False)


def test_nothing_of_it_waits_for_the_cluster_and_all_of_it_for_the_api(graph: Graph) -> None:
    made = [node for node in graph.nodes.values() if node.type.startswith("gcp:monitoring/")]
    assert made
    apis, clusters = of(kinds.API)(graph), of(kinds.CLUSTER)(graph)
    assert all(graph.comes_before(api, node) for api in apis for node in made)
    assert not any(graph.comes_before(cluster, node) for cluster in clusters for node in made)


def test_the_dashboards_link_is_an_output() -> None:
    url = str(variant("storage").outputs["dashboardUrl"])
    assert url.startswith("https://console.cloud.google.com/monitoring/dashboards/builder/")
    assert url.endswith("?project=my-project")
