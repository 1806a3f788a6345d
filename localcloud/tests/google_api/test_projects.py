"""APIs, accounts, roles and records: nothing works before its API is on and its account is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from localcloud.tests.google_api.conftest import COMPUTE, GKE, Client, Props

USAGE = "serviceusage.googleapis.com/v1/projects/my-project/services"
IAM = "iam.googleapis.com/v1/projects"
ZONE = "dns.googleapis.com/dns/v1/projects/my-project/managedZones/example-com"
AR = "artifactregistry.googleapis.com/v1/projects/my-project/locations/us-east5/repositories"
PROJECT = "cloudresourcemanager.googleapis.com/v1/projects/my-project"
ADDRESS = "nodes-of-gke@my-project.iam.gserviceaccount.com"


@pytest.fixture
def bare(tmp_path: Path) -> Client:
    """A project in which nothing is enabled."""
    return Client(tmp_path)


@pytest.mark.parametrize(
    ("http", "path", "api"),
    [
        ("POST", f"{COMPUTE}/global/networks", "compute"),
        ("GET", f"{COMPUTE}/regions/us-east5", "compute"),
        ("DELETE", f"{GKE}/clusters/gke/nodePools/tpu", "container"),
        ("GET", f"{IAM}/my-project/serviceAccounts/{ADDRESS}", "iam"),
        ("GET", f"{IAM}/-/serviceAccounts/{ADDRESS}", "iam"),
        ("POST", f"{ZONE}/changes", "dns"),
        ("GET", f"dns/{ZONE.partition('/dns/')[2]}/rrsets", "dns"),
        ("POST", AR, "artifactregistry"),
        ("POST", f"{PROJECT}:setIamPolicy", "cloudresourcemanager"),
    ],
)
def test_a_call_of_an_api_that_is_off_is_refused(bare: Client, http: str, path: str, api: str) -> None:
    status, reason, message = bare.refused(http, path)
    assert (status, reason) == (403, "accessNotConfigured")
    assert message.startswith(f"{api}.googleapis.com has not been used in project my-project before")
    bare.ok("POST", f"{USAGE}/{api}.googleapis.com:enable")
    assert bare.answer(http, path)[0] != 403
    bare.ok("POST", f"{USAGE}/{api}.googleapis.com:disable")
    assert bare.refused(http, path)[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        "storage.googleapis.com/storage/v1/b/none",
        "monitoring.googleapis.com/v3/projects/my-project/alertPolicies/none",
        "cloudbilling.googleapis.com/v1/projects/my-project/billingInfo",
        USAGE,
    ],
)
def test_some_apis_are_always_on(bare: Client, path: str) -> None:
    assert bare.answer("GET", path)[0] in (200, 404)


def test_the_last_object_takes_all_along_but_enabled_apis(bare: Client) -> None:
    for _ in range(2):  # enabling twice is no error
        bare.ok("POST", f"{USAGE}/compute.googleapis.com:enable")
    bare.ok("POST", f"{COMPUTE}/global/networks", {"name": "vpc"})
    bare.ok("DELETE", f"{COMPUTE}/global/networks/vpc")
    stored = json.loads((bare.cloud.folder / "google.json").read_text())
    assert stored == {"apis": {"my-project": ["compute.googleapis.com"]}}


def bound(member: str, role: str = "roles/viewer") -> Props:
    return {"policy": {"bindings": [{"role": role, "members": [member]}]}}


def test_a_role_needs_its_account(client: Client) -> None:
    body = bound(f"serviceAccount:{ADDRESS}")
    status, _, message = client.refused("POST", f"{PROJECT}:setIamPolicy", body)
    assert (status, message) == (400, f"Service account {ADDRESS} does not exist.")
    client.ok("POST", f"{IAM}/my-project/serviceAccounts", {"accountId": "nodes-of-gke"})
    client.ok("POST", f"{PROJECT}:setIamPolicy", body)
    other = "serviceAccount:service-1@container-engine-robot.iam.gserviceaccount.com"
    client.ok("POST", f"{PROJECT}:setIamPolicy", bound(other))


def test_nobody_is_let_into_a_bucket_that_is_not_there(client: Client) -> None:
    path = "storage.googleapis.com/storage/v1/b/my-weights/iam"
    body = bound("user:someone@example.com", "roles/storage.objectViewer")["policy"]
    assert client.refused("PUT", path, body)[0] == 404
    client.faults({"fault": "world", "enabledApis": ["*"], "existingBuckets": ["my-weights"]})
    client.ok("PUT", path, body)


def test_a_record_of_the_same_name_and_type_is_not_adopted(client: Client) -> None:
    record = {"name": "llm.example.com.", "type": "A", "ttl": 300, "rrdatas": ["203.0.113.9"]}
    client.ok("POST", f"{ZONE}/changes", {"additions": [record]})
    assert "already exists" in client.refused("POST", f"{ZONE}/changes", {"additions": [record]})[2]
