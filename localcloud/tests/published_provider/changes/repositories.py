"""Repositories of Artifact Registry, and what changes of them."""

from __future__ import annotations

from localcloud.tests.published_provider.changes.names import Props

REPOSITORY = "gcp:artifactregistry/repository:Repository"
DELETE_OLD: Props = {"id": "delete-old", "action": "DELETE", "condition": {"olderThan": "2592000s"}}
KEEP_NEWEST: Props = {"id": "keep-newest", "action": "KEEP", "mostRecentVersions": {"keepCount": 10}}

MADE: dict[str, tuple[str, Props]] = {
    "hub": (
        REPOSITORY,
        {
            "repositoryId": "llmd-hub",
            "location": "us-east5",
            "description": "Images",
            "format": "DOCKER",
            "mode": "REMOTE_REPOSITORY",
            "labels": {"team": "llm"},
            "remoteRepositoryConfig": {"description": "hub", "dockerRepository": {"publicRepository": "DOCKER_HUB"}},
            "cleanupPolicies": [DELETE_OLD, KEEP_NEWEST],
        },
    ),
    "quay": (
        REPOSITORY,
        {
            "repositoryId": "llmd-quay",
            "location": "us-east5",
            "format": "DOCKER",
            "mode": "REMOTE_REPOSITORY",
            "remoteRepositoryConfig": {"commonRepository": {"uri": "https://quay.io"}},
        },
    ),
}

CHANGES: tuple[tuple[str, Props], ...] = (
    ("hub", {}),
    ("hub", {"description": "Other"}),
    ("hub", {"description": None}),
    ("hub", {"labels.team": "other"}),
    ("hub", {"format": "docker"}),
    ("hub", {"repositoryId": "llmd-other"}),
    ("hub", {"location": "us-east1"}),
    ("hub", {"cleanupPolicies": [KEEP_NEWEST, DELETE_OLD]}),
    ("hub", {"cleanupPolicies[0].condition.olderThan": "7776000s"}),
    ("hub", {"cleanupPolicies": None}),
    ("hub", {"remoteRepositoryConfig.description": "other"}),
    ("quay", {}),
    ("quay", {"cleanupPolicies": [DELETE_OLD]}),
    ("quay", {"remoteRepositoryConfig.commonRepository.uri": "https://ghcr.io"}),
)  # fmt: skip
