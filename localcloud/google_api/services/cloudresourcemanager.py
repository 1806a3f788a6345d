"""Resource Manager: projects, which are older than everything, and who may do what in them."""

from __future__ import annotations

from localcloud.google_api.core.cloud import PROJECT_NUMBER
from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.services import policies
from localcloud.providers.protocol.values import JsonObject, text, texts

AT_ONCE = 100
"""Permissions that one question may name
(https://cloud.google.com/resource-manager/reference/rest/v3/projects/testIamPermissions)."""


@answers("cloudresourcemanager.projects.get")
def get(request: Request) -> JsonObject:
    """Returns a project. Every project exists; the fault ``projectState`` sets its state."""
    name = request.project
    state = text(request.cloud.faults.conditions.read(), "projectState") or "ACTIVE"
    if request.method.document.endswith(".v3"):
        return {"name": f"projects/{PROJECT_NUMBER}", "projectId": name, "displayName": name, "state": state}
    return {"projectId": name, "projectNumber": PROJECT_NUMBER, "name": name, "lifecycleState": state}


@answers("cloudresourcemanager.projects.getIamPolicy")
def get_policy(request: Request) -> JsonObject:
    """Returns the IAM policy of a project."""
    return policies.read(request.cloud, f"projects/{request.project}")


@answers("cloudresourcemanager.projects.setIamPolicy")
def set_policy(request: Request) -> JsonObject:
    """Replaces the IAM policy of a project."""
    project, given = request.project, request.body.get("policy")
    return policies.write(request.cloud, f"projects/{project}", given if isinstance(given, dict) else {}, project)


@answers("cloudresourcemanager.projects.testIamPermissions")
def test_permissions(request: Request) -> JsonObject:
    """Returns the permissions of the caller: all, or those that the fault ``permissions`` lists."""
    asked, conditions = texts(request.body, "permissions"), request.cloud.faults.conditions
    if len(asked) > AT_ONCE:
        raise ApiError(400, f"Too many permissions: at most {AT_ONCE} can be tested at once.")
    granted = conditions.listed("permissions") if "permissions" in conditions.read() else frozenset(asked)
    return {"permissions": [one for one in asked if one in granted]}
