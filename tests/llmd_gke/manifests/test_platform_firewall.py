from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Any, cast

import pytest

from llmd_gke.manifests import charts, platform_firewall, pod_security
from llmd_gke.settings import NetworkSettings
from tests.llmd_gke.manifests.conftest import MakeModel

NAMESPACES = sorted(charts.WEBHOOK_PORTS)


def policies(namespace: str, *, private_nodes: bool = True, **network: object) -> dict[str, Any]:
    settings = NetworkSettings.model_validate(network)
    return cast("dict[str, Any]", platform_firewall.policies(namespace, settings, private_nodes=private_nodes))


def admits(rule: dict[str, Any], address: str) -> bool:
    peers = rule["from"] if "from" in rule else rule["to"]
    blocks = [peer["ipBlock"] for peer in peers if "ipBlock" in peer]
    return any(
        IPv4Address(address) in IPv4Network(block["cidr"])
        and not any(IPv4Address(address) in IPv4Network(part) for part in block.get("except", []))
        for block in blocks
    )


def test_every_namespace_of_the_charts_has_policies() -> None:
    assert set(charts.WEBHOOK_PORTS) == charts.namespaces()


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_namespace_of_controllers_is_closed_both_ways(namespace: str) -> None:
    spec = policies(namespace)["default-deny"]["spec"]
    assert (spec["podSelector"], spec["policyTypes"]) == ({}, ["Ingress", "Egress"])
    assert "ingress" not in spec


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_only_the_control_plane_reaches_the_webhook_port(namespace: str) -> None:
    (rule,) = policies(namespace)["allow-control-plane"]["spec"]["ingress"]
    assert [port["port"] for port in rule["ports"]] == [charts.WEBHOOK_PORTS[namespace]]
    assert admits(rule, "10.0.0.2"), "the control plane's endpoint in the subnet of the nodes"
    assert admits(rule, "172.16.0.2")
    assert not admits(rule, "10.4.0.9"), "a pod"
    assert not admits(rule, "203.0.113.1")
    (tunnel,) = [peer for peer in rule["from"] if "ipBlock" not in peer]
    assert tunnel["podSelector"]["matchLabels"] == {"k8s-app": "konnectivity-agent"}
    assert tunnel["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "kube-system"}


def test_in_an_existing_network_the_range_of_the_pods_is_not_known() -> None:
    existing = {"network": "shared", "subnet": "gke"}
    (rule,) = policies("kserve", existing=existing)["allow-control-plane"]["spec"]["ingress"]
    assert admits(rule, "10.4.0.9")


@pytest.mark.parametrize(("private_nodes", "public"), [(True, False), (False, True)])
def test_controllers_reach_the_api_server_where_it_can_be(private_nodes: bool, public: bool) -> None:
    (rule,) = policies("kserve", private_nodes=private_nodes)["allow-control-plane"]["spec"]["egress"]
    assert rule["ports"] == [{"protocol": "TCP", "port": 443}]
    assert admits(rule, "10.0.0.2")
    assert admits(rule, "203.0.113.1") is public


@pytest.mark.parametrize(
    ("changes", "level"),
    [
        ({}, "baseline"),
        ({"capabilities": ("CHOWN", "SETUID")}, "baseline"),
        ({"capabilities": ("SYS_RESOURCE",)}, "privileged"),
        ({"privileged": True}, "privileged"),
    ],
)
def test_a_namespace_enforces_what_the_settings_of_its_models_allow(
    make_model: MakeModel, changes: dict[str, object], level: str
) -> None:
    assert pod_security.level([make_model(), make_model(**changes)]) == level
