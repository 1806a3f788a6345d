from __future__ import annotations

import json
from typing import Any, cast

import pytest

from llmd_gke.catalog import versions
from llmd_gke.manifests import access, charts, firewall
from llmd_gke.rules import names
from llmd_gke.settings import GatewaySettings, ModelSettings, NetworkSettings

PROXIES = "10.9.0.0/23"


def policies(model: ModelSettings) -> dict[str, Any]:
    return cast("dict[str, Any]", firewall.model_policies(model, NetworkSettings(proxies=PROXIES), GatewaySettings()))


def test_a_namespace_is_closed_both_ways_but_for_names() -> None:
    spec = cast("Any", firewall.default_deny("models"))["spec"]
    assert spec["podSelector"] == {}
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert "ingress" not in spec
    assert {port["port"] for rule in spec["egress"] for port in rule["ports"]} == {53}
    resolvers = [
        peer["podSelector"]["matchLabels"]["k8s-app"] for peer in spec["egress"][0]["to"] if "podSelector" in peer
    ]
    assert resolvers == ["kube-dns", "node-local-dns"]


def test_the_model_is_reached_by_load_balancer_health_checks_and_picker_only(model: ModelSettings) -> None:
    spec = policies(model)["allow-workload"]["spec"]
    (rule,) = spec["ingress"]
    blocks = [source["ipBlock"]["cidr"] for source in rule["from"] if "ipBlock" in source]
    pods = [source["podSelector"]["matchLabels"] for source in rule["from"] if "podSelector" in source]
    assert blocks == [PROXIES, "35.191.0.0/16", "130.211.0.0/22"]
    assert pods == [policies(model)["allow-picker"]["spec"]["podSelector"]["matchLabels"]]
    assert rule["ports"] == [{"protocol": "TCP", "port": 8000}]


def test_the_picker_is_reached_on_its_two_ports_and_reaches_the_model(model: ModelSettings) -> None:
    spec = policies(model)["allow-picker"]["spec"]
    (rule,) = spec["ingress"]
    assert {port["port"] for port in rule["ports"]} == {9002, 9003}
    workload = policies(model)["allow-workload"]["spec"]["podSelector"]["matchLabels"]
    reached = [
        (entry["podSelector"]["matchLabels"], rule["ports"])
        for rule in spec["egress"]
        for entry in rule["to"]
        if "podSelector" in entry
    ]
    assert reached == [(workload, [{"protocol": "TCP", "port": 8000}])]


def test_the_kubeconfig_of_the_dns_endpoint_trusts_public_certificates() -> None:
    config = json.loads(access.kubeconfig("c", "name.gke.goog", None))
    assert config["clusters"] == [{"name": "c", "cluster": {"server": "https://name.gke.goog"}}]


def test_the_kubeconfig_of_the_ip_endpoint_carries_the_clusters_certificate() -> None:
    config = json.loads(access.kubeconfig("c", "203.0.113.1", "Q0E="))
    assert config["clusters"][0]["cluster"]["certificate-authority-data"] == "Q0E="


def test_the_plugin_impersonates_whom_the_google_provider_impersonates() -> None:
    config = json.loads(access.kubeconfig("c", "h", None, "robot@p.iam.gserviceaccount.com"))
    (user,) = config["users"]
    assert user["user"]["exec"]["args"] == ["--impersonate_service_account=robot@p.iam.gserviceaccount.com"]


@pytest.mark.parametrize("make", charts.PLATFORM, ids=lambda make: make.__name__)
def test_charts_come_pinned_from_their_homes_or_from_a_folder(make: Any) -> None:
    home, folder = make(), make("charts/")
    assert (home.chart, home.version) == (versions.chart(home.name).home, versions.chart(home.name).version)
    assert (folder.chart, folder.version) == (f"charts/{home.name}", None)
    assert folder.values == home.values
    assert folder.namespace == home.namespace


def test_no_model_may_live_where_the_platforms_controllers_do() -> None:
    assert charts.namespaces()
    assert charts.namespaces() <= names.RESERVED_NAMESPACES


def test_kserve_leaves_the_inference_pool_to_gke_and_lets_presets_go() -> None:
    llmisvc = cast("Any", charts.kserve_controller().values)["kserve"]["llmisvc"]
    assert llmisvc["createGIECRDs"] is False
    assert llmisvc["controller"]["env"] == [{"name": "PREVENT_WELL_KNOWN_CONFIG_DELETION", "value": "false"}]


def test_lws_runs_the_image_of_its_version() -> None:
    tag = cast("Any", charts.lws().values)["image"]["manager"]["tag"]
    assert tag == f"v{versions.chart('lws').version}"
