"""Artifact Registry: repositories. What they hold is not kept: every repository is empty."""

from __future__ import annotations

from localcloud.google_api.core.cloud import EmulatedCloud, ends
from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.rules.artifactregistry import REPOSITORY, address, validate
from localcloud.providers.protocol.values import JsonObject, text

REPOSITORIES = "artifactregistry.projects.locations.repositories"
CREATED, CHANGED = "2026-01-01T00:00:00.000000Z", "2026-01-02T00:00:00.000000Z"
SCANNING: JsonObject = {
    "enablementState": "SCANNING_DISABLED",
    "enablementStateReason": "API containerscanning.googleapis.com is not enabled.",
}


@answers(f"{REPOSITORIES}.get")
def _repository(request: Request) -> JsonObject:
    name = request.at["name"]
    return request.cloud.found(name, ApiError(404, f"Requested entity was not found: {name}"))


def _put(cloud: EmulatedCloud, name: str, body: JsonObject) -> None:
    """Stores a repository, also as the rules know it."""
    cloud.resources[name] = body
    cloud.keep(REPOSITORY, name, {**body, "repositoryId": name.rpartition("/")[2]})


def _begin(request: Request, sort: str, name: str, ending: str = "") -> JsonObject:
    parent = name.rpartition("/repositories/")[0]
    operation = f"{parent}/operations/{request.cloud.number():013d}-emulator"
    what: JsonObject = {"type": sort, "target": name, "failure": request.failure}
    request.cloud.begin(operation, what, request.seconds, ending)
    return _operation(request.cloud, operation)


def _operation(cloud: EmulatedCloud, name: str) -> JsonObject:
    status, _, failure = cloud.progress(name)
    shown: JsonObject = {"name": name, "done": status == "DONE"}
    if failure:
        shown["error"] = {"code": 13, "message": failure}
    elif shown["done"]:
        made = cloud.copy(text(cloud.operations[name], "target"))
        kind = "google.devtools.artifactregistry.v1.Repository" if made else "google.protobuf.Empty"
        shown["response"] = {"@type": f"type.googleapis.com/{kind}", **(made or {})}
    return shown


@answers(f"{REPOSITORIES}.create")
def create(request: Request) -> JsonObject:
    """Creates a repository."""
    name = f"{request.at['parent']}/repositories/{request.query.get('repositoryId', '')}"
    if name in request.cloud.resources:
        raise ApiError(409, "the repository already exists")
    validate(name, request.body)
    added: JsonObject = {
        "mode": "STANDARD_REPOSITORY",
        "createTime": CREATED,
        "updateTime": CREATED,
        "registryUri": address(name),
        "vulnerabilityScanningConfig": SCANNING,
    }
    _put(request.cloud, name, {**added, **request.body, "name": name})
    return _begin(request, "create", name, "artifactregistry.created")


@ends("artifactregistry.created")
def _created(cloud: EmulatedCloud, operation: JsonObject) -> str:
    if failure := text(operation, "failure"):
        cloud.drop(REPOSITORY, text(operation, "target"))
    return failure


@answers(f"{REPOSITORIES}.patch")
def patch(request: Request) -> JsonObject:
    """Replaces the properties that ``updateMask`` lists."""
    name, kept = request.at["name"], _repository(request)
    for key in request.query.get("updateMask", "").split(","):
        if key in request.body:
            kept[key] = request.body[key]
        else:
            kept.pop(key, None)
    _put(request.cloud, name, kept | {"updateTime": CHANGED})
    return _repository(request)


@answers(f"{REPOSITORIES}.delete")
def delete(request: Request) -> JsonObject:
    """Deletes a repository."""
    _repository(request)
    return _begin(request, "delete", request.at["name"], "artifactregistry.deleted")


@ends("artifactregistry.deleted")
def _deleted(cloud: EmulatedCloud, operation: JsonObject) -> str:
    failure = text(operation, "failure")
    if not failure:
        cloud.drop(REPOSITORY, text(operation, "target"))
    return failure


@answers("artifactregistry.projects.locations.operations.get")
def operation(request: Request) -> JsonObject:
    """Returns an operation."""
    name = request.at["name"]
    if name not in request.cloud.operations:
        raise ApiError(404, f"Requested entity was not found: {name}")
    return _operation(request.cloud, name)
