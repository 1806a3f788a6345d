"""Copies of the stack's images in Artifact Registry, from which GKE's nodes can stream them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pulumi
from pulumi_gcp import artifactregistry

from components.fresh_apis import patient
from llmd_gke.catalog import registries
from llmd_gke.settings import ImageCacheSettings, StackSettings

KEPT_VERSIONS = 10
"""Newest versions of an image that are kept however old they are. An image for several processors counts as several."""


@dataclass(frozen=True, kw_only=True)
class ImageCacheArgs:
    """``region``: that of the nodes, so that they can stream. The repositories' names begin with ``prefix``, the
    cluster's name.
    """

    settings: ImageCacheSettings
    project: str
    region: str
    prefix: str

    @classmethod
    def of(cls, settings: StackSettings) -> Self | None:
        """Those of a stack with ``imageCache``."""
        if settings.image_cache is None:
            return None
        cluster = settings.cluster
        return cls(settings=settings.image_cache, project=settings.project, region=cluster.region, prefix=cluster.name)


class ImageCache(pulumi.ComponentResource):
    """``llmd-gke:registry:ImageCache``: one remote repository in Artifact Registry for each registry.

    An image that is pulled through it for the first time is fetched from its registry, without credentials, and kept.
    The nodes' role ``roles/artifactregistry.reader`` on the project allows them to pull. The cluster, and thus
    everything that pulls, is created afterwards. ``pulumi destroy`` deletes the repositories with what they hold.
    """

    def __init__(self, name: str, args: ImageCacheArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:registry:ImageCache", name, None, opts)
        for host, ending in registries.CACHED.items():
            child = f"{name}-{ending}"
            artifactregistry.Repository(
                child,
                project=args.project,
                location=args.region,
                repository_id=registries.repository(args.prefix, host),
                description=f"Images of {host} for GKE cluster {args.prefix}",
                format="DOCKER",
                mode="REMOTE_REPOSITORY",
                remote_repository_config=artifactregistry.RepositoryRemoteRepositoryConfigArgs(
                    description=host,
                    docker_repository=artifactregistry.RepositoryRemoteRepositoryConfigDockerRepositoryArgs(
                        public_repository="DOCKER_HUB"
                    )
                    if host == registries.DOCKER_HUB
                    else None,
                    common_repository=artifactregistry.RepositoryRemoteRepositoryConfigCommonRepositoryArgs(
                        uri=f"https://{host}"
                    )
                    if host != registries.DOCKER_HUB
                    else None,
                ),
                cleanup_policies=[
                    artifactregistry.RepositoryCleanupPolicyArgs(
                        id="delete-old",
                        action="DELETE",
                        condition=artifactregistry.RepositoryCleanupPolicyConditionArgs(
                            older_than=f"{args.settings.keep_days * 86_400}s"
                        ),
                    ),
                    artifactregistry.RepositoryCleanupPolicyArgs(
                        id="keep-newest",
                        action="KEEP",
                        most_recent_versions=artifactregistry.RepositoryCleanupPolicyMostRecentVersionsArgs(
                            keep_count=KEPT_VERSIONS
                        ),
                    ),
                ],
                opts=pulumi.ResourceOptions(parent=self, hooks=patient(child)),
            )
        self.register_outputs({})
