"""Enabled APIs and roles on the project."""

from __future__ import annotations

from localcloud.google_api.rules.resource_type import CloudState, failed

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
