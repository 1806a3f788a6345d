"""The cluster as GKE gets it: what is always on, and the options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from pulumi.runtime.mocks import MockResourceArgs

from llmd_gke.graph.monitor import Invented
from llmd_gke.graph.resources import Graph
from tests.components import kinds
from tests.components.conftest import of_stack
from tests.components.kinds import of
from tests.components.variants import variant

Record = Callable[..., Graph]
KEY = "projects/p/locations/europe-west4/keyRings/r/cryptoKeys/k"

ALWAYS: dict[str, object] = {
    "enableShieldedNodes": True,
    "anonymousAuthenticationConfig": {"mode": "LIMITED"},
    "rbacBindingConfig": {
        "enableInsecureBindingSystemAuthenticated": False,
        "enableInsecureBindingSystemUnauthenticated": False,
    },
    "nodePoolDefaults": {
        "nodeConfigDefaults": {"insecureKubeletReadonlyPortEnabled": "FALSE", "gcfsConfig": {"enabled": True}}
    },
    "monitoringConfig": {
        "enableComponents": ["SYSTEM_COMPONENTS", "CADVISOR", "DEPLOYMENT", "KUBELET", "POD", "STATEFULSET"],
        "managedPrometheus": {"enabled": True},
    },
    "clusterAutoscaling": {"enabled": False, "autoscalingProfile": "OPTIMIZE_UTILIZATION"},
    "costManagementConfig": {"enabled": True},
    "dnsConfig": {"clusterDns": "CLOUD_DNS", "clusterDnsScope": "CLUSTER_SCOPE"},
}
OPTIONS = ("databaseEncryption", "binaryAuthorization", "secretManagerConfig", "maintenancePolicy")


def test_every_cluster_is_hardened(graph: Graph, stack: str) -> None:
    always: Any = ALWAYS
    if stack == "gpu":
        monitored = always["monitoringConfig"]
        components = sorted([*monitored["enableComponents"], "DCGM"])
        always = {**always, "monitoringConfig": {**monitored, "enableComponents": components}}
    inputs = graph.find(kinds.CLUSTER).inputs
    assert {key: inputs[key] for key in always} == always


def test_every_node_is_hardened(graph: Graph) -> None:
    pools = of(kinds.NODE_POOL)(graph)
    assert len(pools) > 1
    for pool in pools:
        config: Any = pool.inputs["nodeConfig"]
        assert config["shieldedInstanceConfig"] == {"enableSecureBoot": True, "enableIntegrityMonitoring": True}
        assert config["workloadMetadataConfig"] == {"mode": "GKE_METADATA"}
        assert config["kubeletConfig"] == {"insecureKubeletReadonlyPortEnabled": "FALSE"}


def test_options_are_off_until_settings_ask_and_off_is_said(record: Record) -> None:
    """The provider takes a block that is left out for "as it is": what was on would stay on."""
    graph = record()
    inputs: Any = graph.find(kinds.CLUSTER).inputs
    assert {key: inputs[key] for key in OPTIONS if key in inputs} == {
        "databaseEncryption": {"state": "DECRYPTED"},
        "binaryAuthorization": {"evaluationMode": "DISABLED"},
        "secretManagerConfig": {"enabled": False},
    }
    assert "bootDiskKmsKey" not in str([pool.inputs for pool in of(kinds.NODE_POOL)(graph)])
    assert inputs["loggingConfig"] == {"enableComponents": ["SYSTEM_COMPONENTS", "WORKLOADS"]}
    assert "enableIntranodeVisibility" not in inputs
    assert "logConfig" not in graph.find(kinds.SUBNET, "network-nodes").inputs


def test_options_arrive() -> None:
    graph = variant("edge")
    inputs: Any = graph.find(kinds.CLUSTER).inputs
    assert inputs["binaryAuthorization"] == {"evaluationMode": "PROJECT_SINGLETON_POLICY_ENFORCE"}
    assert inputs["secretManagerConfig"] == {"enabled": True}
    assert inputs["databaseEncryption"] == {"state": "ENCRYPTED", "keyName": KEY}
    configs: list[Any] = [pool.inputs["nodeConfig"] for pool in of(kinds.NODE_POOL)(graph)]
    assert [config["bootDiskKmsKey"] for config in (*configs, inputs["nodeConfig"])] == [f"{KEY}2"] * 3
    system: Any = graph.find(kinds.NODE_POOL, "cluster-system").inputs["nodeConfig"]
    assert (system["machineType"], system["diskType"], system["diskSizeGb"]) == (
        "n4-standard-4",
        "hyperdisk-balanced",
        50,
    )


def test_a_maintenance_window_may_pass_midnight_and_exclusions_may_have_no_end() -> None:
    assert variant("edge").find(kinds.CLUSTER).inputs["maintenancePolicy"] == {
        "recurringWindow": {
            "startTime": "2026-01-01T22:30:00Z",
            "endTime": "2026-01-02T04:30:00Z",
            "recurrence": "FREQ=WEEKLY;BYDAY=SA,SU",
        },
        "maintenanceExclusions": [
            {
                "exclusionName": "holidays",
                "startTime": "2026-12-18T00:00:00Z",
                "endTime": "2026-12-28T00:00:00Z",
                "exclusionOptions": {"scope": "NO_UPGRADES"},
            },
            {
                "exclusionName": "serving",
                "startTime": "2026-12-01T00:00:00Z",
                "exclusionOptions": {"scope": "NO_MINOR_OR_NODE_UPGRADES", "endTimeBehavior": "UNTIL_END_OF_SUPPORT"},
            },
        ],
    }


def test_a_cluster_without_ip_endpoints_ignores_what_google_says_of_the_public_one(record: Record) -> None:
    """The provider sends nothing about it then, and reads an answer without it as "private": an endless difference."""
    ignored = "privateClusterConfig.enablePrivateEndpoint"
    assert ignored in record().find(kinds.CLUSTER).ignore_changes
    assert ignored not in variant("edge").find(kinds.CLUSTER).ignore_changes


@pytest.mark.parametrize(
    ("name", "blocks", "private"),
    [("edge", [{"cidrBlock": "203.0.113.0/24", "displayName": "office"}], False), ("gke", [], True)],
)
def test_the_ip_endpoint_admits_named_networks_only(name: str, blocks: list[object], private: bool) -> None:
    inputs: Any = variant(name).find(kinds.CLUSTER).inputs
    assert inputs["masterAuthorizedNetworksConfig"] == {
        "cidrBlocks": blocks,
        "gcpPublicCidrsAccessEnabled": False,
        "privateEndpointEnforcementEnabled": True,
    }
    assert inputs["privateClusterConfig"] == {"enablePrivateNodes": True, "enablePrivateEndpoint": private}
    assert inputs["controlPlaneEndpointsConfig"] == {
        "dnsEndpointConfig": {"allowExternalTraffic": False},
        "ipEndpointsConfig": {"enabled": True},
    }


SUBNET_LOGS = {"aggregationInterval": "INTERVAL_10_MIN", "flowSampling": 0.5, "metadata": "INCLUDE_ALL_METADATA"}


def test_what_happens_is_recorded_where_settings_ask() -> None:
    graph = variant("edge")
    result: Any = graph.find(kinds.CLUSTER).inputs
    audited = ["SYSTEM_COMPONENTS", "WORKLOADS", "APISERVER", "CONTROLLER_MANAGER", "SCHEDULER"]
    assert result["loggingConfig"] == {"enableComponents": audited}
    assert result["enableIntranodeVisibility"] is True
    subnets = {str(node.inputs.get("purpose", "")): node for node in of(kinds.SUBNET)(graph)}
    assert subnets[""].inputs["logConfig"] == SUBNET_LOGS
    assert "logConfig" not in subnets["REGIONAL_MANAGED_PROXY"].inputs, "Google refuses flow logs there"
    (gateway,) = of("gcp:compute/routerNat:RouterNat")(graph)
    assert gateway.inputs["logConfig"] == {"enable": True, "filter": "ALL"}


def test_production_is_audited() -> None:
    result: Any = of_stack("prod", preview=False).find(kinds.CLUSTER).inputs
    assert "APISERVER" in result["loggingConfig"]["enableComponents"]


def without_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster is in the state without its DNS endpoint, as after a creation that failed late."""
    usual = Invented.new_resource

    def new_resource(self: Invented, args: MockResourceArgs) -> tuple[str | None, dict[str, object]]:
        ident, state = usual(self, args)
        if args.typ == "gcp:container/cluster:Cluster":
            state["controlPlaneEndpointsConfig"] = {"dnsEndpointConfig": {"allowExternalTraffic": True}}
        return ident, state

    monkeypatch.setattr(Invented, "new_resource", new_resource)


def test_a_preview_goes_on_where_the_creation_of_the_cluster_failed_before_its_endpoint_was_read(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = of_stack("eu4a", preview=True).find(kinds.KUBERNETES_PROVIDER).inputs
    without_endpoint(monkeypatch)
    assert record(preview=True).find(kinds.KUBERNETES_PROVIDER).inputs == usual


def test_an_update_of_a_cluster_without_its_endpoint_names_the_fix(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_endpoint(monkeypatch)
    with pytest.raises(pulumi.RunError, match="Fix: run `pulumi refresh`"):
        record()
