"""Google APIs that a project needs, and the permissions of whoever runs ``pulumi up``.

Sources: https://cloud.google.com/kubernetes-engine/docs/how-to/deploying-gateways (compute, container),
https://cloud.google.com/kubernetes-engine/docs/concepts/about-gke-inference-gateway (networkservices),
https://cloud.google.com/iam/docs/permissions-reference.
"""

from __future__ import annotations

APIS = (
    "cloudresourcemanager",
    "compute",
    "container",
    "iam",
    "networkservices",
    "artifactregistry",
    "logging",
    "monitoring",
)
"""``cloudresourcemanager`` is for role bindings on the project, ``networkservices`` for the Inference Gateway, the last
two for node logs and metrics."""

DNS_API = "dns"
"""Only for stacks that make the gateway's DNS record."""

PERMISSIONS = (
    "container.clusters.create",
    "container.clusters.get",
    "container.clusters.update",
    "compute.addresses.create",
    "iam.serviceAccounts.create",
    "iam.serviceAccounts.actAs",
    "resourcemanager.projects.setIamPolicy",
    "serviceusage.services.enable",
)
"""What every stack needs of the caller in its own project."""

OWN_NETWORK_PERMISSIONS = (
    "compute.networks.create",
    "compute.subnetworks.create",
    "compute.routers.create",
)
"""On top for a stack that makes its own VPC."""

SHARED_NETWORK_PERMISSIONS = ("compute.subnetworks.use",)
"""In the project that owns an existing VPC."""


def needed(*, dns: bool) -> tuple[str, ...]:
    """The APIs of a stack, without ``.googleapis.com``; ``dns``: it makes the gateway's DNS record."""
    return (*APIS, *((DNS_API,) if dns else ()))
