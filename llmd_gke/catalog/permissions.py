"""Permissions that the caller of ``pulumi up`` and ``pulumi destroy`` needs, by the types of the resources in the
graph.

Sources: https://cloud.google.com/iam/docs/permissions-reference and
https://cloud.google.com/kubernetes-engine/docs/reference/api-permissions (Kubernetes objects: ``container.*``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from llmd_gke.catalog import deployer


def _all(resource: str, *more: str) -> tuple[str, ...]:
    return (*(f"container.{resource}.{verb}" for verb in ("create", "delete", "get", "update")), *more)


GOOGLE: Mapping[str, tuple[str, ...]] = {
    **deployer.BY_TYPE,
    # The DNS endpoint of the control plane requires `connect`.
    "gcp:container/cluster:Cluster": (
        *_all("clusters", "container.clusters.connect", "container.clusters.list"),
        "container.operations.get",
        "compute.networks.use",
        "compute.subnetworks.use",
    ),
    "gcp:container/nodePool:NodePool": ("container.clusters.update", "container.operations.get"),
    "gcp:projects/iAMMember:IAMMember": (
        "resourcemanager.projects.getIamPolicy",
        "resourcemanager.projects.setIamPolicy",
    ),
    "gcp:projects/service:Service": (
        "serviceusage.services.enable",
        "serviceusage.services.get",
        "serviceusage.services.list",
    ),
}

OBJECTS: Mapping[str, str] = {
    "APIService": "apiServices",
    "Job": "jobs",
    "Namespace": "namespaces",
    "NetworkPolicy": "networkPolicies",
    "Secret": "secrets",
    "ServiceAccount": "serviceAccounts",
}
"""Kubernetes kinds with permissions of their own; every custom resource needs those of ``thirdPartyObjects``."""

RELEASE: tuple[str, ...] = (
    *(
        permission
        for resource in (
            "clusterRoleBindings",
            "clusterRoles",
            "configMaps",
            "customResourceDefinitions",
            "deployments",
            "jobs",
            "mutatingWebhookConfigurations",
            "namespaces",
            "roleBindings",
            "roles",
            "secrets",
            "serviceAccounts",
            "services",
            "validatingWebhookConfigurations",
        )
        for permission in _all(resource)
    ),
    # Charts grant their controllers permissions that the caller itself need not have.
    "container.clusterRoles.bind",
    "container.clusterRoles.escalate",
    "container.roles.bind",
    "container.roles.escalate",
)
"""Permissions for the objects in the charts of cert-manager, LeaderWorkerSet and KServe."""

SHARED_NETWORK = ("compute.subnetworks.use",)
"""Permissions in the project that owns an existing VPC."""


def needed(types: Iterable[str]) -> tuple[str, ...]:
    """Permissions for these types; components and providers need none. Raises ``KeyError`` for unknown Google types."""
    required: set[str] = set()
    for type_ in types:
        if type_.startswith("gcp:"):
            required.update(GOOGLE[type_])
        elif type_.startswith("kubernetes:helm.sh/"):
            required.update(RELEASE)
        elif type_.startswith("kubernetes:"):
            kind = type_.rpartition(":")[2].removesuffix("Patch")
            required.update(_all(OBJECTS.get(kind, "thirdPartyObjects")))
    return tuple(sorted(required))
