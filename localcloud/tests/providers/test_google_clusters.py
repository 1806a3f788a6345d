"""Clusters, judged as GKE judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from localcloud.tests.providers.gke_inputs import CLUSTER, POOL, Props, plain, pool

if TYPE_CHECKING:
    from localcloud.tests.providers.conftest import Result, Standin


@pytest.mark.parametrize(
    ("change", "replaces"),
    [
        ({"gatewayApiConfig": {"channel": "CHANNEL_DISABLED"}}, False),
        ({"minMasterVersion": "1.36"}, False),
        ({"deletionProtection": True}, False),
        ({"nodeLocations": ["europe-west4-b"]}, False),
        ({"datapathProvider": "LEGACY_DATAPATH"}, True),
        ({"initialNodeCount": 2}, True),
        ({"location": "europe-west4-a"}, True),
        ({"nodeConfig": {"machineType": "e2-medium"}}, True),
        ({"ipAllocationPolicy": {"stackType": "IPV4"}}, True),
    ],
)
def test_what_replaces_a_cluster_and_what_changes_it_in_place(
    google: Standin, cluster: Result, change: Props, replaces: bool
):
    assert bool(google.diff(CLUSTER, cluster, plain(cluster) | change).replaces) is replaces


def test_ignored_changes_are_no_changes(google: Standin, cluster: Result):
    from localcloud.providers.protocol.protos import provider_pb2
    from localcloud.providers.protocol.values import encode

    answer = google.stub.Diff(
        provider_pb2.DiffRequest(
            id=cluster.id,
            urn=f"urn:pulumi:t::p::{CLUSTER}::it",
            type=CLUSTER,
            name="it",
            ignoreChanges=["nodeConfig"],
            old_inputs=encode(cluster.inputs),
            olds=encode(cluster.outputs),
            news=encode({**cluster.inputs, "nodeConfig": {"machineType": "e2-medium"}}),
        )
    )
    assert not answer.replaces
    assert not answer.detailedDiff


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"network": "none"}, "networks/none' was not found"),
        ({"subnetwork": "none"}, "subnetworks/none' was not found"),
        ({"ipAllocationPolicy": {"clusterSecondaryRangeName": "none"}}, 'Secondary range "none" does not exist'),
        ({"initialNodeCount": 0}, "initial_node_count must be greater than zero"),
        ({"nodeLocations": ["us-east5-a"]}, 'Location "us-east5-a" is not valid'),
        ({"workloadIdentityConfig": {"workloadPool": "other.svc.id.goog"}}, 'must be "rehearsal.svc.id.goog"'),
        (
            {"datapathProvider": "ADVANCED_DATAPATH", "networkPolicy": {"enabled": True}},
            "together with ADVANCED_DATAPATH",
        ),
    ],
)
def test_a_cluster_that_gke_refuses_is_refused(google: Standin, subnet: Result, change: Props, complaint: str):
    base: Props = {
        "name": "gke",
        "location": "europe-west4",
        "network": "vpc",
        "subnetwork": "nodes",
        "initialNodeCount": 1,
    }
    with pytest.raises(Exception, match=complaint):
        google.create(CLUSTER, base | change)


def test_a_cluster_with_deletion_protection_in_the_state_stays(google: Standin, subnet: Result):
    made = google.create(
        CLUSTER,
        {"name": "gke", "location": "europe-west4", "network": "vpc", "subnetwork": "nodes", "initialNodeCount": 1},
    )
    assert made.outputs["deletionProtection"] is True, "upstream's default"
    with pytest.raises(Exception, match="Cannot destroy cluster because deletion_protection is set to true"):
        google.delete(CLUSTER, made)
    made.outputs = google.update(CLUSTER, made, plain(made) | {"deletionProtection": False})
    google.delete(CLUSTER, made)


def test_a_cluster_takes_its_pools_and_its_objects_along(
    google: Standin, kubernetes: Standin, cluster: Result, namespace: Result
):
    made = google.create(POOL, pool())
    google.delete(CLUSTER, cluster)
    assert google.read(POOL, made.id) is None
    assert (google.folder / "kubernetes.json").read_text() == "{}"


def test_the_client_key_of_a_cluster_is_secret(google: Standin, cluster: Result):
    assert ("masterAuth", "clientKey") in cluster.secrets
    assert ("masterAuth", "clusterCaCertificate") not in cluster.secrets


KEY = "projects/p/locations/europe-west4/keyRings/r/cryptoKeys/k"
WINDOW = {"startTime": "2026-01-01T02:00:00Z", "endTime": "2026-01-01T08:00:00Z", "recurrence": "FREQ=WEEKLY;BYDAY=SA"}
PAUSE = {"exclusionName": "a", "startTime": "2026-12-18T00:00:00Z", "endTime": "2026-12-28T00:00:00Z"}
PLAIN: Props = {"location": "europe-west4", "network": "vpc", "subnetwork": "nodes", "initialNodeCount": 1}


def window(**over: Any) -> Props:
    return {"maintenancePolicy": {"recurringWindow": WINDOW, **over}}


def pause(**over: Any) -> Props:
    return window(maintenanceExclusions=[{key: value for key, value in (PAUSE | over).items() if value}])


def test_a_hardened_cluster_with_its_options_is_made(google: Standin, subnet: Result):
    options: Props = {
        "anonymousAuthenticationConfig": {"mode": "LIMITED"},
        "binaryAuthorization": {"evaluationMode": "PROJECT_SINGLETON_POLICY_ENFORCE"},
        "databaseEncryption": {"state": "ENCRYPTED", "keyName": KEY},
        "nodePoolDefaults": {"nodeConfigDefaults": {"insecureKubeletReadonlyPortEnabled": "FALSE"}},
        **pause(exclusionOptions={"scope": "NO_MINOR_OR_NODE_UPGRADES"}),
    }
    made = google.create(CLUSTER, PLAIN | options | {"name": "gke"})
    assert made.id.endswith("/clusters/gke")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"anonymousAuthenticationConfig": {"mode": "OFF"}}, "mode to be one of ENABLED, LIMITED, got OFF"),
        ({"binaryAuthorization": {"evaluationMode": "ON"}}, "evaluationMode to be one of DISABLED"),
        ({"databaseEncryption": {"state": "ENCRYPTED"}}, "a key is needed"),
        (
            {"databaseEncryption": {"state": "ENCRYPTED", "keyName": KEY.replace("europe-west4", "us-east1")}},
            'is not in location "europe-west4"',
        ),
        ({"nodePoolDefaults": {"nodeConfigDefaults": {"insecureKubeletReadonlyPortEnabled": "no"}}}, "got no"),
        ({"maintenancePolicy": {"maintenanceExclusions": [PAUSE]}}, "one of recurring_window"),
        (pause(endTime=None), "exactly one of end_time"),
        (
            pause(exclusionOptions={"scope": "NO_MINOR_UPGRADES", "endTimeBehavior": "UNTIL_END_OF_SUPPORT"}),
            "exactly one of end_time",
        ),
        (pause(exclusionOptions={"scope": "NOTHING"}), "scope to be one of NO_UPGRADES"),
        (pause(startTime="2026-12-18"), "is not a time such as"),
        (window(maintenanceExclusions=[PAUSE] * 21), "no more than 20"),
    ],
)
def test_cluster_options_that_google_refuses_are_refused(
    google: Standin, subnet: Result, options: Props, complaint: str
):
    with pytest.raises(Exception, match=complaint):
        google.create(CLUSTER, PLAIN | options | {"name": "gke"})


def test_a_cluster_in_a_shared_network_finds_it_in_the_host_project(google: Standin):
    host = "projects/host-project"
    google.faults(enabledApis=["*"])
    google.create("gcp:compute/network:Network", {"name": "corp", "project": "host-project"})
    subnet = {"name": "gke", "network": f"{host}/global/networks/corp", "project": "host-project"}
    google.create("gcp:compute/subnetwork:Subnetwork", subnet | {"ipCidrRange": "10.0.0.0/20"})
    shared = {
        "network": f"{host}/global/networks/corp",
        "subnetwork": f"{host}/regions/europe-west4/subnetworks/gke",
    }
    google.create(CLUSTER, PLAIN | shared | {"name": "gke"})
    with pytest.raises(Exception, match="projects/rehearsal/global/networks/corp' was not found"):
        google.create(CLUSTER, PLAIN | {"name": "other", "network": "corp"})


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("1.35", "1.35.2-gke.1751000"),
        ("1.34.4", "1.34.4-gke.1047000"),
        ("1.36.2-gke.2154000", "1.36.2-gke.2154000"),
        (None, "1.35.2-gke.1751000"),
    ],
)
def test_a_minor_version_means_its_newest_patch(asked: str | None, given: str) -> None:
    from localcloud.providers.google.container import offered

    assert offered(asked or "") == given


@pytest.mark.parametrize("asked", ["1.34.0-gke.1626000", "1.3", "1.99"])
def test_a_version_that_is_no_longer_offered_is_refused(asked: str) -> None:
    from localcloud.providers.google.container import offered

    assert offered(asked) is None
