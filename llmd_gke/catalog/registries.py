"""Registries of charts and images, their mirrors, and the repositories of an image cache.

A table of mirrors maps a registry to its replacement: ``docker.io`` to
``europe-west4-docker.pkg.dev/PROJECT/docker-hub``. The path below it is unchanged, as in remote repositories of
Artifact Registry (https://cloud.google.com/artifact-registry/docs/repositories/remote-overview).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from llmd_gke.catalog import versions

DOCKER_HUB = "docker.io"

OF_CHARTS = ("docker.io/kserve/llmisvc-controller", "docker.io/kserve/storage-initializer", "registry.k8s.io/lws/lws")
"""Images that charts refer to, besides cert-manager's and Istio's, which are on Docker Hub, too (KServe charts/kserve-
llmisvc-resources/values.yaml, LeaderWorkerSet v0.9.0 charts/lws/values.yaml)."""

CERT_MANAGER = "quay.io"
"""Registry of cert-manager's images (v1.21.2, deploy/charts/cert-manager/values.yaml ``imageRegistry``)."""

CACHED: Mapping[str, str] = {
    DOCKER_HUB: "docker-hub",
    "ghcr.io": "ghcr",
    CERT_MANAGER: "quay",
    "registry.k8s.io": "k8s",
}
"""Every registry that nodes pull images from, with the ending of its repository's name in an image cache."""

Table = Mapping[str, str]


@dataclass(frozen=True)
class Mirrors:
    """The tables of mirrors by which addresses of ``images`` and of ``charts`` are replaced."""

    images: Table = field(default_factory=dict[str, str])
    charts: Table = field(default_factory=dict[str, str])


NONE = Mirrors()


def host(reference: str) -> str:
    """The registry of an image or chart. Without a host it is Docker Hub."""
    first, slash, _ = reference.partition("/")
    return first if slash and ("." in first or ":" in first or first == "localhost") else DOCKER_HUB


def at(reference: str, table: Table) -> str:
    """The reference of an image or chart (without ``oci://``) in its mirror; unchanged if its registry has none."""
    home = host(reference)
    if home not in table:
        return reference
    path = reference.removeprefix(f"{home}/")
    if home == DOCKER_HUB and "/" not in path:
        path = f"library/{path}"
    return f"{table[home]}/{path}"


def original(reference: str, table: Table) -> str:
    """The reference in its own registry of an image in a mirror; unchanged if it is in none of the table."""
    homes = (home for home, prefix in table.items() if reference.startswith(f"{prefix}/"))
    return next((f"{home}{reference.removeprefix(table[home])}" for home in homes), reference)


def hosts() -> frozenset[str]:
    """Every registry that this program installs from."""
    homes = [chart.home.removeprefix("oci://") for chart in versions.charts()]
    homes += [image.home for image in versions.images()]
    return frozenset(map(host, [*homes, *OF_CHARTS])) | {CERT_MANAGER}


def repository(cluster: str, home: str) -> str:
    """The name of the repository that caches the images of a registry for a cluster."""
    return f"{cluster}-{CACHED[home]}"


def cache(project: str, region: str, cluster: str) -> dict[str, str]:
    """The table of mirrors of a cluster's image cache."""
    return {home: f"{region}-docker.pkg.dev/{project}/{repository(cluster, home)}" for home in CACHED}
