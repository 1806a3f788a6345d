"""Artifact Registry: repositories. What they hold is not kept: every repository is empty.

Facts: the discovery document of ``artifactregistry.v1`` (``Repository``), and
https://cloud.google.com/artifact-registry/docs/repositories/remote-repo.
"""

from __future__ import annotations

import re

from localcloud.google_api.core.errors import ApiError
from localcloud.product import registries
from localcloud.providers.protocol.values import JsonObject, JsonValue, dig, text

REPOSITORY = "gcp:artifactregistry/repository:Repository"
ID = re.compile(r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
MOST_POLICIES = 10
"""Cleanup policies of one repository."""


def address(ident: str) -> str:
    """The address of a repository for Docker clients, by its id."""
    _, project, _, location, _, name = ident.split("/")
    return f"{location}-docker.pkg.dev/{project}/{name}"


def upstreams(content: JsonObject) -> dict[str, str]:
    """The registry that each remote repository of images in ``google.json`` fetches from, by the repository's
    address.
    """
    records = dig(content, "objects", REPOSITORY)
    made = records.items() if isinstance(records, dict) else ()
    hosts = {address(ident): _upstream(dig(record, "inputs")) for ident, record in made}
    return {there: host for there, host in hosts.items() if host}


def _upstream(body: JsonValue) -> str:
    """The host of a remote repository's upstream; empty for other repositories."""
    if text(body, "remoteRepositoryConfig", "dockerRepository", "publicRepository") == "DOCKER_HUB":
        return registries.DOCKER_HUB
    custom = text(body, "remoteRepositoryConfig", "dockerRepository", "customRepository", "uri")
    return (text(body, "remoteRepositoryConfig", "commonRepository", "uri") or custom).removeprefix("https://")


def validate(ident: str, body: JsonObject) -> None:
    """Raises :class:`ApiError` for a repository that Google rejects."""
    name, remote = ident.rpartition("/")[2], text(body, "mode") == "REMOTE_REPOSITORY"
    policies = dig(body, "cleanupPolicies")  # a list of the provider, a map of the API
    if not ID.fullmatch(name):
        problem = f"invalid repository ID '{name}'"
    elif remote != isinstance(dig(body, "remoteRepositoryConfig"), dict):
        problem = "remote_repository_config must be set for remote repositories, and for no others"
    elif remote and text(body, "format") == "DOCKER" and not _upstream(body):
        problem = "a remote repository requires an upstream of its own format"
    elif isinstance(policies, list | dict) and len(policies) > MOST_POLICIES:
        problem = f"a repository has at most {MOST_POLICIES} cleanup policies"
    else:
        return
    raise ApiError(400, problem)
