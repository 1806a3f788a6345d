"""Enabled APIs and roles on the project."""

from __future__ import annotations

from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.rules.resource_type import CloudState

ALWAYS_ON = frozenset(
    f"{name}.googleapis.com"
    for name in ("serviceusage", "servicemanagement", "cloudapis", "logging", "monitoring", "storage", "bigquery")
)
"""APIs of a new project, as far as they matter here (https://cloud.google.com/service-usage/docs/enabled-service)."""


ELSEWHERE = frozenset({"cloudbilling.googleapis.com"})
"""APIs that the project in the path need not enable: billing counts against the caller's."""


def require(cloud_state: CloudState, project: str, api: str) -> None:
    """Raises Google's error for an API that the project has not enabled."""
    extra = cloud_state.faults.listed("enabledApis")
    on = api in ELSEWHERE or api in cloud_state.enabled(project) | ALWAYS_ON | extra or "*" in extra
    if on and cloud_state.usable(project, api):
        return
    message = (
        f"{api} has not been used in project {project} before or it is disabled. Enable it by visiting "
        f"https://console.developers.google.com/apis/api/{api}/overview?project={project} then retry. If you enabled "
        "this API recently, wait a few minutes for the action to propagate to our systems and retry. "
        "[reason: SERVICE_DISABLED]"
    )
    raise ApiError(403, message, "accessNotConfigured")
