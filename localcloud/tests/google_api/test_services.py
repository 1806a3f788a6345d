"""The services, each asked as a client would."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.monitoring import google
from localcloud.monitoring.targets import Where
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.tests.google_api.conftest import CLUSTER, COMPUTE, GKE, POOL, Client, Props
from localcloud.tests.published_provider.changes.network import DENY_OTHERS, THROTTLE

REGION = f"{COMPUTE}/regions/us-east5"
PROJECTS = "cloudresourcemanager.googleapis.com/v1/projects/my-project"
ACCOUNTS = "iam.googleapis.com/v1/projects/my-project/serviceAccounts"


def test_what_is_in_use_stays_and_what_is_free_goes(cluster: Client) -> None:
    status, reason, message = cluster.refused("DELETE", f"{COMPUTE}/global/networks/vpc")
    assert (status, reason) == (400, "resourceInUseByAnotherResource")
    assert "already being used by" in message
    cluster.ok("DELETE", f"{GKE}/clusters/gke")
    cluster.ok("DELETE", f"{REGION}/subnetworks/nodes")
    cluster.ok("DELETE", f"{COMPUTE}/global/networks/vpc")
    assert cluster.seen()["resources"] == {}


def test_a_name_that_is_taken_is_refused(network: Client) -> None:
    assert network.refused("POST", f"{COMPUTE}/global/networks", {"name": "vpc"}) == (
        409,
        "alreadyExists",
        "The resource 'projects/my-project/global/networks/vpc' already exists",
    )


@pytest.mark.parametrize("cidr", ["10.0.8.0/24", "10.4.0.0/24", "10.20.0.0/30"])
def test_a_range_that_cannot_be_is_refused_by_the_rules_of_the_stand_in(network: Client, cidr: str) -> None:
    subnet = {"name": "more", "network": "projects/my-project/global/networks/vpc", "ipCidrRange": cidr}
    assert network.refused("POST", f"{REGION}/subnetworks", subnet)[:2] == (400, "invalid")


def test_a_range_grows_and_a_stale_fingerprint_is_refused(network: Client) -> None:
    path = f"{REGION}/subnetworks/nodes"
    read = network.ok("GET", path)
    network.ok("POST", f"{path}/expandIpCidrRange", {"ipCidrRange": "10.0.0.0/19"})
    assert network.ok("GET", path)["ipCidrRange"] == "10.0.0.0/19"
    stale = {"fingerprint": read["fingerprint"], "logConfig": {"enable": True}}
    assert network.refused("PATCH", path, stale)[:2] == (412, "conditionNotMet")


def test_nat_is_a_part_of_its_router_and_covers_a_network_once(network: Client) -> None:
    router = {"name": "r", "network": "projects/my-project/global/networks/vpc"}
    nat = {"name": "nat", "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES"}
    for name in ("r", "s"):
        network.ok("POST", f"{REGION}/routers", {**router, "name": name})
    network.ok("PATCH", f"{REGION}/routers/r", {"nats": [nat]})
    assert network.ok("GET", f"{REGION}/routers/r")["nats"] == [nat]
    assert "another NAT" in network.refused("PATCH", f"{REGION}/routers/s", {"nats": [nat]})[2]
    network.ok("PATCH", f"{REGION}/routers/r", {"nats": []})
    network.ok("PATCH", f"{REGION}/routers/s", {"nats": [nat]})


def test_labels_of_an_address_need_the_fingerprint_that_was_read(client: Client) -> None:
    client.ok("POST", f"{REGION}/addresses", {"name": "ip"})
    made = client.ok("GET", f"{REGION}/addresses/ip")
    assert made["address"].startswith("203.0.113.")
    labels: Props = {"labels": {"a": "b"}, "labelFingerprint": made["labelFingerprint"]}
    client.ok("POST", f"{REGION}/addresses/ip/setLabels", labels)
    assert client.ok("GET", f"{REGION}/addresses/ip")["labels"] == {"a": "b"}
    assert client.refused("POST", f"{REGION}/addresses/ip/setLabels", labels)[0] == 412


def test_a_renamed_resource_policy_is_not_found(client: Client) -> None:
    policy = {"name": "wp", "workloadPolicy": {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "2x2x2"}}
    client.ok("POST", f"{REGION}/resourcePolicies", policy)
    assert client.refused("PATCH", f"{REGION}/resourcePolicies/wp-new", {"name": "wp-new"})[:2] == (404, "notFound")


def test_a_cluster_has_its_first_pool_and_the_pool_its_instance_group(cluster: Client) -> None:
    result = cluster.ok("GET", f"{GKE}/clusters/gke")
    assert (result["status"], [pool["name"] for pool in result["nodePools"]]) == ("RUNNING", ["default-pool"])
    assert result["controlPlaneEndpointsConfig"]["ipEndpointsConfig"] == {"enabled": True, "enablePublicEndpoint": True}
    assert result["controlPlaneEndpointsConfig"]["dnsEndpointConfig"]["endpoint"].endswith(".us-east5.gke.goog")
    url = result["instanceGroupUrls"][0].removeprefix("https://www.googleapis.com/compute/v1/projects/my-project")
    group = cluster.ok("GET", f"{COMPUTE}{url}")
    assert (group["targetSize"], group["name"]) == (1, url.rpartition("/")[2])
    listed = cluster.ok("GET", f"{COMPUTE}/zones/us-east5-a/instanceGroupManagers")["items"]
    assert [one["name"] for one in listed] == [group["name"]]


def test_without_ip_endpoints_google_says_nothing_of_the_public_one(network: Client) -> None:
    asked = {"ipEndpointsConfig": {"enabled": False}, "dnsEndpointConfig": {"allowExternalTraffic": True}}
    network.ok("POST", f"{GKE}/clusters", {"cluster": {**CLUSTER, "controlPlaneEndpointsConfig": asked}})
    shown = network.ok("GET", f"{GKE}/clusters/gke")
    assert shown["controlPlaneEndpointsConfig"]["ipEndpointsConfig"] == {"enabled": False}
    assert shown["endpoint"] == shown["controlPlaneEndpointsConfig"]["dnsEndpointConfig"]["endpoint"]


def test_an_update_of_a_cluster_changes_what_it_names(cluster: Client) -> None:
    path = f"{GKE}/clusters/gke"
    update = {"desiredBinaryAuthorization": {"evaluationMode": "PROJECT_SINGLETON_POLICY_ENFORCE"}}
    cluster.ok("PUT", path, {"update": update})
    assert cluster.ok("GET", path)["binaryAuthorization"] == update["desiredBinaryAuthorization"]
    assert cluster.refused("PUT", path, {"update": {}})[2] == "Must specify a field to update."
    assert cluster.refused("PUT", path, {"update": {"etag": "old", **update}})[0] == 409
    assert cluster.refused("PUT", path, {"update": {"desiredFleet": {"project": "p"}}})[0] == 501


def test_the_laptop_clouds_collectors_see_what_a_cluster_has_on(cluster: Client, tmp_path: Path) -> None:
    def update(**config: object) -> google.Monitored | None:
        cluster.ok("PUT", f"{GKE}/clusters/gke", {"update": {"desiredMonitoringConfig": config}})
        return google.monitored(CloudFile(tmp_path / "google.json").read())

    assert update(managedPrometheusConfig={"enabled": False}) is None
    components = {"enableComponents": ["POD", "HPA"]}
    updated = update(managedPrometheusConfig={"enabled": True}, componentConfig=components)
    where = Where("my-project", "us-east5", "gke")
    assert updated == google.Monitored(where, frozenset({"POD", "HPA"}))


def test_a_pool_that_the_rules_refuse_is_not_made(cluster: Client) -> None:
    pool = {**POOL, "config": {"machineType": "ct6e-standard-4t", "diskType": "pd-balanced"}}
    status, _, message = cluster.refused("POST", f"{GKE}/clusters/gke/nodePools", {"nodePool": pool})
    assert status == 400
    assert "are not compatible for creating instance" in message
    assert cluster.refused("GET", f"{GKE}/clusters/gke/nodePools/tpu")[0] == 404


def test_a_stock_out_leaves_the_pool_in_error_and_the_operation_says_why(cluster: Client) -> None:
    cluster.faults({"fault": "world", "enabledApis": ["*"], "stockout": ["us-east5-b"]})
    operation = cluster.ok("POST", f"{GKE}/clusters/gke/nodePools", {"nodePool": POOL})
    assert operation["status"] == "DONE"
    assert "[GCE_STOCKOUT]" in operation["error"]["message"]
    pool = cluster.ok("GET", f"{GKE}/clusters/gke/nodePools/tpu")
    assert (pool["status"], pool["statusMessage"]) == ("ERROR", operation["error"]["message"])


def test_a_size_of_a_pool_arrives_at_its_instance_group(cluster: Client) -> None:
    cluster.ok("POST", f"{GKE}/clusters/gke/nodePools", {"nodePool": POOL})
    cluster.ok("POST", f"{GKE}/clusters/gke/nodePools/tpu:setSize", {"nodeCount": 3})
    listed = cluster.ok("GET", f"{COMPUTE}/zones/us-east5-b/instanceGroupManagers")["items"]
    assert sum(one["targetSize"] for one in listed if "-tpu-" in one["name"]) == 3


def test_a_policy_that_somebody_else_has_changed_is_not_overwritten(client: Client) -> None:
    read = client.ok("POST", f"{PROJECTS}:getIamPolicy")
    mine = {**read, "bindings": [{"role": "roles/viewer", "members": ["user:a@example.com"]}]}
    client.ok("POST", f"{PROJECTS}:setIamPolicy", {"policy": mine})
    assert client.refused("POST", f"{PROJECTS}:setIamPolicy", {"policy": mine})[:2] == (409, "aborted")


def test_a_role_is_for_an_account_that_exists(client: Client) -> None:
    address = "nodes@my-project.iam.gserviceaccount.com"
    policy: Props = {"bindings": [{"role": "roles/viewer", "members": [f"serviceAccount:{address}"]}]}
    message = client.refused("POST", f"{PROJECTS}:setIamPolicy", {"policy": policy})[2]
    assert message == f"Service account {address} does not exist."
    client.ok("POST", ACCOUNTS, {"accountId": "nodes"})
    assert client.refused("POST", ACCOUNTS, {"accountId": "nodes"})[0] == 409
    client.ok("POST", f"{PROJECTS}:setIamPolicy", {"policy": policy})
    client.ok("DELETE", f"{ACCOUNTS}/{address}")
    assert client.refused("GET", f"{ACCOUNTS}/{address}") == (404, "notFound", "Unknown service account")


def test_a_bucket_is_made_once_changed_and_removed(client: Client) -> None:
    buckets = "storage.googleapis.com/storage/v1/b"
    made = client.ok("POST", buckets, {"name": "w", "location": "us-east5"}, project="my-project")
    assert (made["location"], made["softDeletePolicy"]["retentionDurationSeconds"]) == ("US-EAST5", "604800")
    assert client.refused("POST", buckets, {"name": "w"}, project="my-project")[:2] == (409, "conflict")
    changed = client.ok("PATCH", f"{buckets}/w", {"labels": {"a": "b"}}, ifMetagenerationMatch="1")
    assert changed["metageneration"] == "2"
    assert client.refused("PATCH", f"{buckets}/w", {}, ifMetagenerationMatch="1")[0] == 412
    policy: Props = {"bindings": [{"role": "roles/storage.objectViewer", "members": ["allUsers"]}]}
    client.ok("PUT", f"{buckets}/w/iam", policy)
    assert client.ok("GET", f"{buckets}/w/iam")["bindings"] == policy["bindings"]
    assert client.ok("GET", f"{buckets}/w/o") == {"kind": "storage#objects"}
    client.ok("DELETE", f"{buckets}/w")
    assert client.refused("GET", f"{buckets}/w")[0] == 404


def test_a_change_of_records_is_made_in_whole_or_not_at_all(client: Client) -> None:
    zone = "dns.googleapis.com/dns/v1/projects/my-project/managedZones/example-com"
    record: Props = {"name": "a.example.com.", "type": "A", "ttl": 300, "rrdatas": ["203.0.113.7"]}
    client.ok("POST", f"{zone}/changes", {"additions": [record]})
    other = {**record, "rrdatas": ["203.0.113.8"]}
    assert client.refused("POST", f"{zone}/changes", {"additions": [other]})[0] == 409
    assert client.refused("POST", f"{zone}/changes", {"deletions": [other], "additions": [record]})[0] == 404
    client.ok("POST", f"{zone}/changes", {"deletions": [record], "additions": [other]})
    listed = client.ok("GET", f"{zone}/rrsets", name="a.example.com.", type="A")["rrsets"]
    assert [one["rrdatas"] for one in listed] == [["203.0.113.8"]]


def test_what_one_emulator_made_another_in_the_same_folder_shows(cluster: Client, tmp_path: Path) -> None:
    other = Client(tmp_path)
    assert other.ok("GET", f"{GKE}/clusters/gke")["status"] == "RUNNING"
    other.ok("DELETE", f"{GKE}/clusters/gke")
    assert cluster.refused("GET", f"{GKE}/clusters/gke")[0] == 404


def test_a_pool_is_scaled_by_an_update_of_its_cluster_too(cluster: Client) -> None:
    cluster.ok("POST", f"{GKE}/clusters/gke/nodePools", {"nodePool": POOL})
    bounds = {"enabled": True, "minNodeCount": 1, "maxNodeCount": 3}
    update: Props = {"desiredNodePoolId": "tpu", "desiredNodePoolAutoscaling": bounds}
    cluster.ok("PUT", f"{GKE}/clusters/gke", {"update": update})
    assert cluster.ok("GET", f"{GKE}/clusters/gke/nodePools/tpu")["autoscaling"] == bounds
    assert cluster.refused("PUT", f"{GKE}/clusters/gke", {"update": {**update, "desiredNodePoolId": "no"}})[0] == 404


def test_a_network_that_is_missing_is_not_found(client: Client) -> None:
    subnet = {"name": "nodes", "network": "projects/my-project/global/networks/none", "ipCidrRange": "10.0.0.0/20"}
    assert client.refused("POST", f"{REGION}/subnetworks", subnet) == (
        404,
        "notFound",
        "The resource 'projects/my-project/global/networks/none' was not found",
    )


def test_a_security_policy_keeps_its_rules_and_has_one_for_everyone_else(client: Client) -> None:
    path = f"{REGION}/securityPolicies"
    client.ok("POST", path, {"name": "empty"})
    (rule,) = client.ok("GET", f"{path}/empty")["rules"]
    assert (rule["priority"], rule["action"]) == (2147483647, "allow")
    client.ok("POST", path, {"name": "armor", "rules": [THROTTLE, DENY_OTHERS]})
    made = client.ok("GET", f"{path}/armor")
    assert (made["type"], made["rules"]) == ("CLOUD_ARMOR", [THROTTLE, DENY_OTHERS])
    client.ok("PATCH", f"{path}/armor", {"rules": [DENY_OTHERS], "fingerprint": made["fingerprint"]})
    assert client.ok("GET", f"{path}/armor")["rules"] == [DENY_OTHERS]
    assert client.refused("PATCH", f"{path}/armor", {"rules": [], "fingerprint": made["fingerprint"]})[0] == 412
    assert client.refused("PATCH", f"{path}/armor", {"rules": [THROTTLE]})[:2] == (400, "invalid")
    for name in ("armor", "empty"):
        client.ok("DELETE", f"{path}/{name}")
    assert client.ok("GET", path).get("items", []) == []
