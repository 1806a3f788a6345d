"""Clusters, judged as GKE judges them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from localcloud.google_api.rules.container import offered
from localcloud.tests.google_api.conftest import CLUSTER, COMPUTE, GKE, REGION, Client, Props

PATH = f"{GKE}/clusters/gke"
KEY = "projects/p/locations/us-east5/keyRings/r/cryptoKeys/k"
DATAPLANE_V2 = {"networkConfig": {"datapathProvider": "ADVANCED_DATAPATH"}}


def encrypted(**key: str) -> Props:
    return {"databaseEncryption": {"state": "ENCRYPTED", **key}}


def pauses(count: int) -> Props:
    pause = {"startTime": "2026-12-18T00:00:00Z", "endTime": "2026-12-28T00:00:00Z"}
    return {"maintenancePolicy": {"window": {"maintenanceExclusions": {f"pause-{n}": pause for n in range(count)}}}}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"name": "gke"}, "Already exists: projects/my-project/locations/us-east5/clusters/gke."),
        ({"network": "none"}, "networks/none' was not found"),
        ({"network": "projects/host/global/networks/vpc"}, "projects/host/global/networks/vpc' was not found"),
        ({"subnetwork": "none"}, "subnetworks/none' was not found"),
        ({"ipAllocationPolicy": {"clusterSecondaryRangeName": "none"}}, 'Secondary range "none" does not exist'),
        ({"initialNodeCount": 0}, "initial_node_count must be greater than zero"),
        ({"locations": ["europe-west4-a"]}, 'Location "europe-west4-a" is not valid'),
        ({"workloadIdentityConfig": {"workloadPool": "other.svc.id.goog"}}, 'must be "my-project.svc.id.goog"'),
        ({"initialClusterVersion": "1.99"}, 'Master version "1.99" is unsupported'),
        ({"nodeConfig": {"serviceAccount": "x@my-project.iam.gserviceaccount.com"}}, "does not exist"),
        (DATAPLANE_V2 | {"networkPolicy": {"enabled": True}}, "DatapathProvider=ADVANCED_DATAPATH is not allowed"),
        (encrypted(), "needs a Cloud KMS key"),
        (encrypted(keyName=KEY.replace("us-east5", "us-east1")), 'is not in location "us-east5"'),
        (pauses(21), "at most 20 maintenance exclusions, not 21"),
    ],
)
def test_a_cluster_that_gke_refuses_is_refused(cluster: Client, change: Props, text: str) -> None:
    assert text in cluster.refused("POST", f"{GKE}/clusters", {"cluster": {**CLUSTER, "name": "other", **change}})[2]


@pytest.mark.parametrize(
    ("verb", "body", "text"),
    [
        ("PUT", {"update": {"desiredDatabaseEncryption": {"state": "ENCRYPTED"}}}, "needs a Cloud KMS key"),
        ("POST:setMaintenancePolicy", pauses(21), "at most 20 maintenance exclusions"),
    ],
)
def test_a_refused_update_changes_nothing(cluster: Client, verb: str, body: Props, text: str) -> None:
    before, (http, _, method) = cluster.ok("GET", PATH), verb.partition(":")
    assert text in cluster.refused(http, f"{PATH}:{method}" if method else PATH, body)[2]
    assert cluster.ok("GET", PATH) == before


def test_a_cluster_in_a_shared_network_finds_it_in_the_host_project(client: Client) -> None:
    host, where = "projects/host-project", COMPUTE.replace("my-project", "host-project")
    client.ok("POST", f"{where}/global/networks", {"name": "corp"})
    subnet = {"name": "gke", "network": f"{host}/global/networks/corp", "ipCidrRange": "10.0.0.0/20"}
    subnets = f"{REGION.replace('my-project', 'host-project')}/subnetworks"
    client.ok("POST", subnets, subnet)
    paths = {"network": subnet["network"], "subnetwork": f"{host}/regions/us-east5/subnetworks/gke"}
    client.ok("POST", f"{GKE}/clusters", {"cluster": {**CLUSTER, "ipAllocationPolicy": {}, **paths}})
    assert "clusters/gke" in client.refused("DELETE", f"{subnets}/gke")[2]


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("1.35", "1.35.2-gke.1751000"),
        ("1.34.4", "1.34.4-gke.1047000"),
        ("1.36.2-gke.2154000", "1.36.2-gke.2154000"),
        ("", "1.35.2-gke.1751000"),
        ("1.34.0-gke.1626000", None),
        ("1.3", None),
    ],
)
def test_a_minor_version_means_its_newest_patch(asked: str, given: str | None) -> None:
    assert offered(asked) == given


# -- the laptop cloud --------------------------------------------------------------------------------------------------

FACTS = {"endpoint": "172.16.0.2", "dnsEndpoint": "gke-laptop.us-east5.gke.goog", "caCertificate": "PEM"}


@pytest.fixture
def laptop(network: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    """With a network, in the folder of a laptop cloud whose control plane does not run yet."""
    (tmp_path / "cluster").mkdir()
    monkeypatch.setenv("LLMD_GKE_HOME", str(tmp_path))
    monkeypatch.setenv("LLMD_GKE_CLOUD", "laptop")
    return network


@pytest.mark.parametrize(
    ("facts", "text"),
    [(None, "make up CLOUD=laptop"), (FACTS | {"endpoint": ""}, "does not contain endpoint"), (FACTS, "")],
)
def test_a_laptop_cloud_has_one_cluster_where_its_control_plane_runs(
    laptop: Client, tmp_path: Path, facts: Props | None, text: str
) -> None:
    if facts is not None:
        (tmp_path / "cluster" / "laptop.json").write_text(json.dumps(facts))
    if text:
        assert text in laptop.refused("POST", f"{GKE}/clusters", {"cluster": CLUSTER})[2]
        return
    laptop.ok("POST", f"{GKE}/clusters", {"cluster": CLUSTER})
    assert laptop.ok("GET", PATH)["endpoint"] == FACTS["endpoint"]
    second = laptop.refused("POST", f"{GKE}/clusters", {"cluster": CLUSTER | {"name": "second"}})[2]
    assert "one control plane, which projects/my-project/locations/us-east5/clusters/gke already uses" in second
