"""Memorystore for Redis, which the emulator does not have, as far as it takes to see that one module is a service."""

from __future__ import annotations

from localcloud.google_api.core.cloud import EmulatedCloud, ends
from localcloud.google_api.core.errors import exists, not_found
from localcloud.google_api.core.request import Request, answers
from localcloud.providers.protocol.values import JsonObject, JsonValue, text

INSTANCES = "redis.projects.locations.instances"


@answers(f"{INSTANCES}.create")
def create(request: Request) -> JsonObject:
    """Makes an instance, which is ready when the operation is over."""
    key = f"{request.at['parent']}/instances/{request.query['instanceId']}"
    if key in request.cloud.resources:
        raise exists(key)
    request.cloud.resources[key] = {"tier": "BASIC", **request.body, "name": key, "state": "CREATING"}
    name = f"{request.at['parent']}/operations/operation-{request.cloud.number()}"
    operation: JsonObject = {"type": "create", "target": key, "failure": request.failure}
    request.cloud.begin(name, operation, request.seconds, "redis.ready")
    return _operation(request.cloud, name)


@ends("redis.ready")
def _ready(cloud: EmulatedCloud, operation: JsonObject) -> str:
    if not (failure := text(operation, "failure")):
        cloud.resources[text(operation, "target")]["state"] = "READY"
    return failure


@answers(f"{INSTANCES}.get")
def get(request: Request) -> JsonObject:
    """One."""
    if instance := request.cloud.copy(request.at["name"]):
        return instance
    raise not_found(request.at["name"])


@answers(f"{INSTANCES}.list")
def list_(request: Request) -> JsonObject:
    """Those of a location, page by page."""
    items = list[JsonValue](request.cloud.below(f"{request.at['parent']}/instances").values())
    return request.page("instances", items, size="pageSize")


@answers("redis.projects.locations.operations.get")
def operation(request: Request) -> JsonObject:
    """How far it is."""
    return _operation(request.cloud, request.at["name"])


def _operation(cloud: EmulatedCloud, name: str) -> JsonObject:
    status, _, failure = cloud.progress(name)
    shown: JsonObject = {"name": name, "done": status == "DONE"}
    if failure:
        shown["error"] = {"code": 13, "message": failure}
    return shown


@answers(f"{INSTANCES}.getAuthString")
def wrong(request: Request) -> JsonObject:
    """What Google never answers."""
    del request
    return {"password": "x"}
