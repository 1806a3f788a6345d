"""The SDK as components use it: its packages are imported lean (:mod:`components.lazy_packages`), and it waits for
outputs at once (:mod:`components.pending_outputs`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.lazy_packages import package
from components.pending_outputs import wait_at_once

if TYPE_CHECKING:
    from pulumi_gcp import artifactregistry, compute, container, monitoring, projects, serviceaccount
    from pulumi_kubernetes.apps import v1 as apps
    from pulumi_kubernetes.batch import v1 as batch
    from pulumi_kubernetes.core import v1 as core
    from pulumi_kubernetes.helm import v3 as helm
    from pulumi_kubernetes.networking import v1 as networking
    from pulumi_kubernetes.rbac import v1 as rbac
else:
    apps = package("pulumi_kubernetes.apps.v1")
    artifactregistry = package("pulumi_gcp.artifactregistry")
    batch = package("pulumi_kubernetes.batch.v1")
    compute = package("pulumi_gcp.compute", many_types=True)
    # The cluster alone names most of its classes: compiling them one by one would take 0.8 s longer.
    container = package("pulumi_gcp.container")
    core = package("pulumi_kubernetes.core.v1", many_types=True)
    helm = package("pulumi_kubernetes.helm.v3")
    monitoring = package("pulumi_gcp.monitoring", many_types=True)
    networking = package("pulumi_kubernetes.networking.v1")
    projects = package("pulumi_gcp.projects")
    rbac = package("pulumi_kubernetes.rbac.v1")
    serviceaccount = package("pulumi_gcp.serviceaccount")

wait_at_once()

__all__ = [
    "apps",
    "artifactregistry",
    "batch",
    "compute",
    "container",
    "core",
    "helm",
    "monitoring",
    "networking",
    "projects",
    "rbac",
    "serviceaccount",
]
