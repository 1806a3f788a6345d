"""Registries of charts and images, and their mirrors.

``mirrors`` maps a registry to its replacement: ``docker.io`` to ``europe-west4-docker.pkg.dev/PROJECT/docker-hub``. The
path below it is unchanged, as in remote repositories of Artifact Registry
(https://cloud.google.com/artifact-registry/docs/repositories/remote-overview).
"""

from __future__ import annotations

from collections.abc import Mapping

from llmd_gke.catalog import versions

DOCKER_HUB = "docker.io"

OF_CHARTS = ("docker.io/kserve/llmisvc-controller", "docker.io/kserve/storage-initializer", "registry.k8s.io/lws/lws")
"""Images that charts refer to, besides cert-manager's (KServe charts/kserve-llmisvc-resources/values.yaml,
LeaderWorkerSet v0.9.0 charts/lws/values.yaml)."""

CERT_MANAGER = "quay.io"
"""Registry of cert-manager's images (v1.21.2, deploy/charts/cert-manager/values.yaml ``imageRegistry``)."""

Mirrors = Mapping[str, str]

NONE: Mirrors = {}


def host(reference: str) -> str:
    """The registry of an image or chart. Without a host it is Docker Hub."""
    first, slash, _ = reference.partition("/")
    return first if slash and ("." in first or ":" in first or first == "localhost") else DOCKER_HUB


def at(reference: str, mirrors: Mirrors) -> str:
    """The reference of an image or chart (without ``oci://``) in its mirror; unchanged if its registry has none."""
    home = host(reference)
    if home not in mirrors:
        return reference
    path = reference.removeprefix(f"{home}/")
    if home == DOCKER_HUB and "/" not in path:
        path = f"library/{path}"
    return f"{mirrors[home]}/{path}"


def hosts() -> frozenset[str]:
    """Every registry that this program installs from."""
    homes = [chart.home.removeprefix("oci://") for chart in versions.charts()]
    homes += [image.home for image in versions.images()]
    return frozenset(map(host, [*homes, *OF_CHARTS])) | {CERT_MANAGER}
