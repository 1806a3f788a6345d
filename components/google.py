"""Creates the Google Cloud provider."""

from __future__ import annotations

import pulumi
import pulumi_gcp as gcp

from components.refused_changes import before_update, same_project
from llmd_gke.settings import StackSettings


def impersonated() -> str | None:
    """E-mail address of the service account that both halves impersonate: ``gcp:impersonateServiceAccount``."""
    return pulumi.Config("gcp").get("impersonateServiceAccount")


def google_provider(settings: StackSettings) -> gcp.Provider:
    """A provider for the stack's project, with the stack's labels on every resource that supports labels.

    Credentials come from the environment (application default credentials); impersonation (also of the
    kubeconfig's plugin) and billing follow the usual ``gcp:impersonateServiceAccount``, ``gcp:billingProject`` and
    ``gcp:userProjectOverride``.
    """
    config = pulumi.Config("gcp")
    return gcp.Provider(
        "google",
        project=settings.project,
        region=settings.cluster.region,
        zone=settings.cluster.zone,
        default_labels={"managed-by": "pulumi", "llmd-gke-cluster": settings.cluster.name, **settings.cluster.labels},
        impersonate_service_account=impersonated(),
        billing_project=config.get("billingProject"),
        user_project_override=config.get_bool("userProjectOverride"),
        opts=pulumi.ResourceOptions(hooks=before_update("same-project", same_project)),
    )
