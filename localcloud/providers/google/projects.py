"""Enabled APIs and roles on the project."""

from __future__ import annotations

from localcloud.providers.google.resource_type import CloudState, ResourceType, TargetResource, failed
from localcloud.providers.google.serviceaccount import known_member

SERVICE = "gcp:projects/service:Service"
IAM_MEMBER = "gcp:projects/iAMMember:IAMMember"

ALWAYS_ON = frozenset(
    f"{name}.googleapis.com"
    for name in ("serviceusage", "servicemanagement", "cloudapis", "logging", "monitoring", "storage", "bigquery")
)
"""APIs of a new project, as far as they matter here (https://cloud.google.com/service-usage/docs/enabled-service)."""


def require(cloud_state: CloudState, project: str, api: str, title: str = "Error") -> None:
    """Raises Google's error for an API that the project has not enabled."""
    extra = cloud_state.faults.listed("enabledApis")
    on = not api or api in cloud_state.enabled(project) | ALWAYS_ON | extra or "*" in extra
    if on and cloud_state.usable(project, api):
        return
    message = (
        f"{api} has not been used in project {project} before or it is disabled. Enable it by visiting "
        f"https://console.developers.google.com/apis/api/{api}/overview?project={project} then retry. If you enabled "
        "this API recently, wait a few minutes for the action to propagate to our systems and retry. "
        "[reason: SERVICE_DISABLED]"
    )
    raise failed(title, 403, message, "accessNotConfigured")


def _enable(cloud_state: CloudState, target: TargetResource) -> None:
    cloud_state.enable(target.project, cloud_state.enabled(target.project) | {target.text("service")})


def _disable(cloud_state: CloudState, target: TargetResource) -> None:
    # resource_google_project_service.go: without disable_on_destroy the API stays enabled.
    if target.inputs.get("disableOnDestroy") is True:
        cloud_state.enable(target.project, cloud_state.enabled(target.project) - {target.text("service")})


def _member(cloud_state: CloudState, target: TargetResource) -> None:
    known_member(cloud_state, target, "Error applying IAM policy for project")


KINDS: dict[str, ResourceType] = {
    SERVICE: ResourceType(
        id="{project}/{service}",
        title="Service",
        source="resourcemanager/resource_google_project_service.go",
        api="serviceusage.googleapis.com",
        autoname=None,
        adopts=True,  # enabling an enabled API succeeds
        create=_enable,
        delete=_disable,
    ),
    IAM_MEMBER: ResourceType(
        id="{project}/{role}/{member}",
        title="IAM member",
        # Everything about a member is ForceNew: google-beta/tpgiamresource/resource_iam_member.go IamMemberBaseSchema.
        source="../tpgiamresource/resource_iam_member.go",
        # getIamPolicy and setIamPolicy of a project are Resource Manager's (crossplane-contrib/provider-jet-gcp#17).
        api="cloudresourcemanager.googleapis.com",
        autoname=None,
        delete_first=True,
        adopts=True,  # adding a member that is there changes nothing
        computed=lambda _: {"etag": "BwYrehearsal="},
        create=_member,
    ),
}
