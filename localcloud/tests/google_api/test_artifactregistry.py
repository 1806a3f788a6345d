"""Artifact Registry as a client sees it: repositories, their operations, and what Google refuses."""

from __future__ import annotations

import pytest

from localcloud.google_api.rules.artifactregistry import upstreams
from localcloud.tests.google_api.conftest import Client, Props

PARENT = "projects/my-project/locations/us-east5"
WHERE = f"artifactregistry.googleapis.com/v1/{PARENT}"
HUB: Props = {
    "format": "DOCKER",
    "mode": "REMOTE_REPOSITORY",
    "remoteRepositoryConfig": {"dockerRepository": {"publicRepository": "DOCKER_HUB"}},
}


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


def test_only_remote_repositories_have_an_upstream(client: Client) -> None:
    quay = {"commonRepository": {"uri": "https://quay.io"}}
    own = {"mode": "STANDARD_REPOSITORY", "remoteRepositoryConfig": None}
    for name, change in (("hub", {}), ("quay", {"remoteRepositoryConfig": quay}), ("own", own)):
        body = {key: value for key, value in {**HUB, **change}.items() if value}
        client.ok("POST", f"{WHERE}/repositories", body, repositoryId=name)
    assert client.ok("GET", f"{WHERE}/repositories/hub")["registryUri"] == "us-east5-docker.pkg.dev/my-project/hub"
    with client.cloud.state() as cloud_state:
        assert upstreams(cloud_state.content) == {
            "us-east5-docker.pkg.dev/my-project/hub": "docker.io",
            "us-east5-docker.pkg.dev/my-project/quay": "quay.io",
        }
