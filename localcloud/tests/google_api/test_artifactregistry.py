"""Artifact Registry as a client sees it: repositories, their operations, and what Google refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.providers.google.artifactregistry import REPOSITORY
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.providers.protocol.values import dig
from localcloud.tests.google_api.conftest import Client, Props

PARENT = "projects/my-project/locations/us-east5"
WHERE = f"artifactregistry.googleapis.com/v1/{PARENT}"
HUB: Props = {
    "format": "DOCKER",
    "mode": "REMOTE_REPOSITORY",
    "remoteRepositoryConfig": {"dockerRepository": {"publicRepository": "DOCKER_HUB"}},
}


def make(client: Client, name: str = "hub", **change: object) -> Props:
    # The provider writes the parameter as the API's own definition does, not as its document does.
    return client.ok("POST", f"{WHERE}/repositories", {**HUB, **change}, repository_id=name)


def test_a_repository_is_created_changed_listed_and_deleted(client: Client, tmp_path: Path) -> None:
    operation = make(client)
    assert operation["done"] is True
    assert operation["response"]["name"] == f"{PARENT}/repositories/hub"
    assert client.ok("GET", f"artifactregistry.googleapis.com/v1/{operation['name']}") == operation
    made = client.ok("GET", f"{WHERE}/repositories/hub")
    assert made["registryUri"] == "us-east5-docker.pkg.dev/my-project/hub"
    records = dig(CloudFile(tmp_path / "google.json").read(), "objects", REPOSITORY)
    assert isinstance(records, dict)
    assert list(records) == [f"{PARENT}/repositories/hub"]
    changed = client.ok("PATCH", f"{WHERE}/repositories/hub", {"description": "Images"}, updateMask="description")
    assert changed["description"] == "Images"
    assert changed["remoteRepositoryConfig"] == HUB["remoteRepositoryConfig"]
    listed = client.ok("GET", f"{WHERE}/repositories")
    assert [one["name"] for one in listed["repositories"]] == [made["name"]]
    assert client.ok("DELETE", f"{WHERE}/repositories/hub")["done"] is True
    assert client.refused("GET", f"{WHERE}/repositories/hub")[0] == 404
    assert client.seen()["resources"] == {}


def test_a_repository_whose_creation_fails_does_not_exist(client: Client) -> None:
    client.faults({"fault": "operation", "method": "artifactregistry.*.create", "message": "no", "times": 1})
    assert make(client)["error"]["message"] == "no"
    assert client.refused("GET", f"{WHERE}/repositories/hub")[0] == 404
    assert make(client)["done"] is True


def test_a_name_that_is_taken_is_refused(client: Client) -> None:
    make(client)
    assert client.refused("POST", f"{WHERE}/repositories", HUB, repositoryId="hub")[0] == 409


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("Hub", {}, "invalid repository ID 'Hub'"),
        ("hub", {"mode": "STANDARD_REPOSITORY"}, "for remote repositories, and for no others"),
        ("hub", {"remoteRepositoryConfig": {"description": "nothing"}}, "requires an upstream"),
        ("hub", {"cleanupPolicies": {str(one): {"id": str(one)} for one in range(11)}}, "at most 10 cleanup policies"),
    ],
)
def test_a_repository_that_google_rejects(client: Client, name: str, change: Props, message: str) -> None:
    status, _, given = client.refused("POST", f"{WHERE}/repositories", {**HUB, **change}, repositoryId=name)
    assert status == 400
    assert message in given
