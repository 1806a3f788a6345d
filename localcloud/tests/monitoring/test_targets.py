"""PodMonitorings and pods become targets by the rules of Google's collectors."""

from __future__ import annotations

import pytest

from llmd_common.kubernetes.fields import Object
from llmd_gke.manifests import scraping
from localcloud.monitoring import targets
from localcloud.monitoring.collector import CALLER
from localcloud.monitoring.targets import ScrapeEndpoint, SecretKey
from localcloud.tests.monitoring.cluster import WHERE, monitoring, pod, policy


def only(one: Object, *pods: Object, policies: tuple[Object, ...] = ()) -> ScrapeEndpoint:
    (endpoint,) = targets.endpoints([one], pods, policies, CALLER, WHERE)
    return endpoint


def test_a_port_by_number_is_scraped_on_every_selected_pod_declared_or_not() -> None:
    endpoint = only(monitoring({"port": 9999}, metadata=["pod", "node", "container"]), pod("a"), pod("b"))
    assert [one.address for one in endpoint.targets] == ["10.244.0.9:9999", "10.244.0.9:9999"]
    assert endpoint.targets[0].labels == {
        "project_id": "demo",
        "location": "europe-west4",
        "cluster": "serving",
        "namespace": "models",
        "job": "servers",
        "instance": "a:9999",
        "pod": "a",
        "node": "node-1",  # and no container, which would be ambiguous
    }


def test_a_port_by_name_is_looked_up_in_each_container_and_has_its_label() -> None:
    sidecar = {"name": "sidecar", "ports": [{"name": "metrics", "containerPort": 9000}]}
    main = {"name": "main", "ports": [{"name": "http", "containerPort": 8000}]}
    asked = monitoring({"port": "metrics"}, metadata=["container"])
    endpoint = only(asked, pod("a", containers=[main, sidecar]), pod("b", containers=[main]))
    assert [(one.address, one.labels["instance"], one.labels["container"]) for one in endpoint.targets] == [
        ("10.244.0.9:9000", "a:metrics", "sidecar")
    ]


@pytest.mark.parametrize(
    "left_out",
    [
        pod("a", phase="Succeeded"),
        pod("a", phase="Failed"),
        pod("a", podIP=""),
        pod("a", namespace="elsewhere"),
        {**pod("a"), "metadata": {"name": "a", "namespace": "models", "labels": {"app": "other"}}},
    ],
)
def test_pods_that_have_ended_have_no_address_or_are_not_selected_are_no_targets(left_out: Object) -> None:
    assert only(monitoring({"port": 8000}), left_out).targets == ()


def test_ended_pods_stay_where_the_filter_is_off() -> None:
    assert len(only(monitoring({"port": 8000}, filterRunning=False), pod("a", phase="Failed")).targets) == 1


def test_labels_of_pods_are_mapped_and_an_absent_one_gives_none() -> None:
    mapped = {"fromPod": [{"from": "app.kubernetes.io/name", "to": "model"}, {"from": "absent"}]}
    labels = only(monitoring({"port": 8000}, metadata=[], targetLabels=mapped), pod("a")).targets[0].labels
    assert labels["model"] == "qwen"
    assert "absent" not in labels
    assert "pod" not in labels


@pytest.mark.parametrize(
    ("kind", "owner", "expected"),
    [
        ("ReplicaSet", "qwen-kserve-abc", ("Deployment", "qwen-kserve")),
        ("Job", "nightly-12345678", ("CronJob", "nightly")),
        ("Job", "once", ("Job", "once")),
        ("StatefulSet", "hosts", ("StatefulSet", "hosts")),
        ("DaemonSet", "agents", ("DaemonSet", "agents")),
    ],
)
def test_without_a_choice_the_labels_name_pod_and_top_level_controller(
    kind: str, owner: str, expected: tuple[str, str]
) -> None:
    one = pod("a")
    one["metadata"]["ownerReferences"] = [{"kind": kind, "name": owner, "controller": True}]
    labels = only(monitoring({"port": 8000}), one).targets[0].labels
    assert (labels["top_level_controller_type"], labels["top_level_controller_name"]) == expected
    assert labels["instance"] == ("node-1:8000" if kind == "DaemonSet" else "a:8000")


def test_a_target_that_no_policy_admits_stays_in_the_list_with_its_reason() -> None:
    endpoint = only(monitoring({"port": 8000}), pod("a"), policies=(policy("default-deny"),))
    assert "no NetworkPolicy admits gmp-system to port 8000 of a" in endpoint.targets[0].refused


def test_the_programs_own_pod_monitorings_give_plain_servers_and_pickers_with_a_token() -> None:
    made = [scraping.servers("models", 30), scraping.pickers("models", 15)]
    pickers, servers = targets.endpoints(made, [], [], CALLER, WHERE)
    assert (servers.job, servers.interval, servers.token) == ("PodMonitoring/models/model-servers/8000", "30s", None)
    assert (pickers.interval, pickers.timeout, pickers.path) == ("15s", "15s", "/metrics")
    assert pickers.token == SecretKey("models", "metrics-reader-token", "token")
