"""Creates the Google Cloud provider."""

from __future__ import annotations

import pulumi
import pulumi_gcp as gcp

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
        opts=pulumi.ResourceOptions(
            hooks=pulumi.ResourceHookBinding(
                before_update=[
                    pulumi.ResourceHook("same-project", same_project, pulumi.ResourceHookOptions(on_dry_run=True))
                ]
            )
        ),
    )


def same_project(args: pulumi.ResourceHookArgs) -> None:
    """Raises :class:`pulumi.RunError` if the stack's project changes.

    The provider would plan that as an update: the old network would remain without an owner, and the cluster would be
    updated in place in its old project.
    """
    before, now = (str((inputs or {}).get("project", "")) for inputs in (args.old_inputs, args.new_inputs))
    if before and now and before != now:
        raise pulumi.RunError(
            f'gcp:project = "{now}": this stack is in project {before}, and its resources cannot move to another '
            "project.\n"
            f"Allowed: {before}.\n"
            f"Fix: pulumi config set gcp:project {before}; for {now} create another stack (pulumi stack init), or "
            "destroy this one first."
        )
