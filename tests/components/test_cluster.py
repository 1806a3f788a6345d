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
from tests.components.kinds import of

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


def cluster(record: Record, **over: object) -> Graph:
    return record({"llmd-gke:cluster": {"name": "llmd-eu4a", "zone": "europe-west4-a", **over}}, preview=True)


@pytest.mark.parametrize("key", ALWAYS)
def test_every_cluster_is_hardened(graph: Graph, stack: str, key: str) -> None:
    always: Any = ALWAYS[key]
    if (stack, key) == ("gpu", "monitoringConfig"):
        always = {**always, "enableComponents": sorted([*always["enableComponents"], "DCGM"])}
    assert graph.find(kinds.CLUSTER).inputs[key] == always


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
    graph = cluster(record)
    inputs = graph.find(kinds.CLUSTER).inputs
    assert {key: inputs[key] for key in OPTIONS if key in inputs} == {
        "databaseEncryption": {"state": "DECRYPTED"},
        "binaryAuthorization": {"evaluationMode": "DISABLED"},
        "secretManagerConfig": {"enabled": False},
    }
    assert "bootDiskKmsKey" not in str([pool.inputs for pool in of(kinds.NODE_POOL)(graph)])


def test_options_arrive(record: Record) -> None:
    graph = cluster(
        record,
        binaryAuthorization=True,
        secretManager=True,
        encryption={"database": KEY, "disks": f"{KEY}2"},
        systemPool={"machineType": "n4-standard-4", "diskType": "hyperdisk-balanced", "diskGb": 50},
    )
    inputs = graph.find(kinds.CLUSTER).inputs
    assert inputs["binaryAuthorization"] == {"evaluationMode": "PROJECT_SINGLETON_POLICY_ENFORCE"}
    assert inputs["secretManagerConfig"] == {"enabled": True}
    assert inputs["databaseEncryption"] == {"state": "ENCRYPTED", "keyName": KEY}
    configs: list[Any] = [pool.inputs["nodeConfig"] for pool in of(kinds.NODE_POOL)(graph)]
    assert [config["bootDiskKmsKey"] for config in (*configs, inputs["nodeConfig"])] == [f"{KEY}2"] * 3  # pyright: ignore
    system: Any = graph.find(kinds.NODE_POOL, "cluster-system").inputs["nodeConfig"]
    assert (system["machineType"], system["diskType"], system["diskSizeGb"]) == (
        "n4-standard-4",
        "hyperdisk-balanced",
        50,
    )


def test_a_maintenance_window_may_pass_midnight_and_exclusions_may_have_no_end(record: Record) -> None:
    graph = cluster(
        record,
        maintenance={
            "days": ["SA", "SU"],
            "start": "22:30",
            "hours": 6,
            "exclusions": [
                {"name": "holidays", "start": "2026-12-18", "end": "2026-12-28", "scope": "NO_UPGRADES"},
                {"name": "serving", "start": "2026-12-01"},
            ],
        },
    )
    assert graph.find(kinds.CLUSTER).inputs["maintenancePolicy"] == {
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
    assert ignored in cluster(record, endpoint="dns").find(kinds.CLUSTER).ignore_changes
    open_by_ip = cluster(record, endpoint="ip", authorizedNetworks={"office": "203.0.113.0/24"})
    assert ignored not in open_by_ip.find(kinds.CLUSTER).ignore_changes


@pytest.mark.parametrize(
    ("endpoint", "cidr", "private"), [("ip", "203.0.113.0/24", False), ("private", "10.8.0.0/16", True)]
)
def test_the_ip_endpoint_admits_named_networks_only_wherever_they_are(
    record: Record, endpoint: str, cidr: str, private: bool
) -> None:
    networks = {"office": cidr}
    inputs: Any = cluster(record, endpoint=endpoint, authorizedNetworks=networks).find(kinds.CLUSTER).inputs
    assert inputs["masterAuthorizedNetworksConfig"] == {
        "cidrBlocks": [{"cidrBlock": cidr, "displayName": "office"}],
        "gcpPublicCidrsAccessEnabled": False,
        "privateEndpointEnforcementEnabled": True,
    }
    assert inputs["privateClusterConfig"] == {"enablePrivateNodes": True, "enablePrivateEndpoint": private}
    assert inputs["controlPlaneEndpointsConfig"] == {
        "dnsEndpointConfig": {"allowExternalTraffic": False},
        "ipEndpointsConfig": {"enabled": True},
    }


def test_a_private_endpoint_needs_no_network_beside_the_clusters_own(record: Record) -> None:
    inputs: Any = cluster(record, endpoint="private").find(kinds.CLUSTER).inputs
    assert inputs["masterAuthorizedNetworksConfig"]["cidrBlocks"] == []
    assert inputs["privateClusterConfig"]["enablePrivateEndpoint"] is True


SUBNET_LOGS = {"aggregationInterval": "INTERVAL_10_MIN", "flowSampling": 0.5, "metadata": "INCLUDE_ALL_METADATA"}


@pytest.mark.parametrize(
    ("audit", "components", "subnet", "nat", "intranode"),
    [
        (False, ["SYSTEM_COMPONENTS", "WORKLOADS"], None, "ERRORS_ONLY", None),
        (
            True,
            ["SYSTEM_COMPONENTS", "WORKLOADS", "APISERVER", "CONTROLLER_MANAGER", "SCHEDULER"],
            SUBNET_LOGS,
            "ALL",
            True,
        ),
    ],
)
def test_what_happens_is_recorded_where_settings_ask(
    record: Record, audit: bool, components: list[str], subnet: object, nat: str, *, intranode: bool | None
) -> None:
    graph = cluster(record, audit=audit)
    result: Any = graph.find(kinds.CLUSTER).inputs
    assert result["loggingConfig"] == {"enableComponents": components}
    assert result.get("enableIntranodeVisibility") is intranode
    subnets = {str(node.inputs.get("purpose", "")): node for node in of(kinds.SUBNET)(graph)}
    assert subnets[""].inputs.get("logConfig") == subnet
    assert "logConfig" not in subnets["REGIONAL_MANAGED_PROXY"].inputs, "Google refuses flow logs there"
    (gateway,) = of("gcp:compute/routerNat:RouterNat")(graph)
    assert gateway.inputs["logConfig"] == {"enable": True, "filter": nat}


def test_production_is_audited(record: Record) -> None:
    result: Any = record(stack="prod").find(kinds.CLUSTER).inputs
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
    usual = cluster(record).find(kinds.KUBERNETES_PROVIDER).inputs
    without_endpoint(monkeypatch)
    assert cluster(record).find(kinds.KUBERNETES_PROVIDER).inputs == usual


def test_an_update_of_a_cluster_without_its_endpoint_names_the_fix(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_endpoint(monkeypatch)
    with pytest.raises(pulumi.RunError, match="Fix: run `pulumi refresh`"):
        record()
