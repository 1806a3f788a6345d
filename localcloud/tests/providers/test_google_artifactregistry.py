"""Repositories of Artifact Registry: what a change replaces, what Google rejects, and the upstreams of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from localcloud.tests.published_provider.changes.names import Props

from localcloud.providers.google.artifactregistry import REPOSITORY, upstreams
from localcloud.providers.protocol.values import JsonObject

if TYPE_CHECKING:
    from localcloud.tests.providers.conftest import Standin

HUB: Props = {"description": "Hub", "dockerRepository": {"publicRepository": "DOCKER_HUB"}}
QUAY: Props = {"commonRepository": {"uri": "https://quay.io"}}


def repository(**change: object) -> Props:
    return {
        "repositoryId": "hub",
        "location": "us-east5",
        "format": "DOCKER",
        "mode": "REMOTE_REPOSITORY",
        "remoteRepositoryConfig": HUB,
        **change,
    }


def test_a_repository_is_created_with_its_address(google: Standin) -> None:
    made = google.create(REPOSITORY, repository())
    assert made.id == "projects/rehearsal/locations/us-east5/repositories/hub"
    assert made.outputs["registryUri"] == "us-east5-docker.pkg.dev/rehearsal/hub"
    policy = {"id": "delete-old", "action": "DELETE", "condition": {"olderThan": "86400s"}}
    assert not google.diff(REPOSITORY, made, repository(cleanupPolicies=[policy])).replaces


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"repositoryId": "Hub"}, "invalid repository ID 'Hub'"),
        ({"mode": "STANDARD_REPOSITORY"}, "must be set for remote repositories"),
        ({"remoteRepositoryConfig": {"description": "nothing"}}, "requires an upstream"),
    ],
)
def test_a_repository_that_google_rejects(google: Standin, change: Props, message: str) -> None:
    with pytest.raises(Exception, match=message):
        google.create(REPOSITORY, repository(**change))


def test_only_remote_repositories_have_an_upstream() -> None:
    where = "projects/p/locations/us-east5/repositories"
    records: JsonObject = {
        f"{where}/hub": {"inputs": {"remoteRepositoryConfig": HUB}},
        f"{where}/quay": {"inputs": {"remoteRepositoryConfig": QUAY}},
        f"{where}/own": {"inputs": {"format": "DOCKER"}},
    }
    assert upstreams({"objects": {REPOSITORY: records}}) == {
        "us-east5-docker.pkg.dev/p/hub": "docker.io",
        "us-east5-docker.pkg.dev/p/quay": "quay.io",
    }
