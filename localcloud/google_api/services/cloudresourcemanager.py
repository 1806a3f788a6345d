"""Resource Manager: projects, which are older than everything, and who may do what in them."""

from __future__ import annotations

from localcloud.google_api.core.cloud import PROJECT_NUMBER
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.services import policies
from localcloud.providers.google import projects
from localcloud.providers.protocol.values import JsonObject, JsonValue

API = "cloudresourcemanager.googleapis.com"


def _project(request: Request) -> str:
    return next(iter(request.at.values())).removeprefix("projects/")


def _required(request: Request) -> str:
    with request.cloud.world() as world:
        projects.require(world, _project(request), API, "Resource Manager")
    return _project(request)


@answers("cloudresourcemanager.projects.get")
def get(request: Request) -> JsonObject:
    """Every project that is asked for is there."""
    name = _required(request)
    if request.method.document.endswith(".v3"):
        return {"name": f"projects/{PROJECT_NUMBER}", "projectId": name, "displayName": name, "state": "ACTIVE"}
    return {"projectId": name, "projectNumber": PROJECT_NUMBER, "name": name, "lifecycleState": "ACTIVE"}


@answers("cloudresourcemanager.projects.getIamPolicy")
def get_policy(request: Request) -> JsonObject:
    """Who may do what."""
    return policies.read(request.cloud, f"projects/{_required(request)}")


@answers("cloudresourcemanager.projects.setIamPolicy")
def set_policy(request: Request) -> JsonObject:
    """Replaces it."""
    project, given = _required(request), request.body.get("policy")
    return policies.write(request.cloud, f"projects/{project}", given if isinstance(given, dict) else {}, project)


@answers("cloudresourcemanager.projects.testIamPermissions")
def test_permissions(request: Request) -> JsonObject:
    """Whoever asks may do everything."""
    asked: JsonValue = request.body.get("permissions", [])
    return {"permissions": asked}
