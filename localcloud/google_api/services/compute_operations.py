"""Operations of Compute Engine, and instance groups: what is read about things that others made."""

from __future__ import annotations

import time

from localcloud.google_api.core.errors import not_found
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.rules.references import NODE_POOL
from localcloud.google_api.rules.resource_type import digits
from localcloud.google_api.services.links import compute_link, group_name, pools_in
from localcloud.google_api.services.quotas import of_region
from localcloud.product import zones
from localcloud.providers.protocol.values import JsonObject, JsonValue, number

LETTERS = "abcdefgh"
RATE = "RESOURCE_OPERATION_RATE_EXCEEDED"
"""Default code of failed operations."""


def shown(request: Request, name: str) -> JsonObject:
    """An operation as Compute Engine shows it."""
    operation = request.cloud.operations[name]
    status, progress, failure = request.cloud.progress(name)
    scope, target = str(operation["scope"]), str(operation["target"])
    answer: JsonObject = {
        "kind": "compute#operation",
        "id": digits(name),
        "name": name,
        "operationType": operation["type"],
        "targetLink": compute_link(target),
        "targetId": digits(target),
        "status": status,
        "progress": progress,
        "user": "emulator",
        "insertTime": "2026-01-01T00:00:00.000-08:00",
        "startTime": "2026-01-01T00:00:00.000-08:00",
        "selfLink": compute_link(f"{scope}/operations/{name}"),
    }
    if "/regions/" in scope or "/zones/" in scope:
        answer["region" if "/regions/" in scope else "zone"] = compute_link(scope)
    if status == "DONE":
        answer["endTime"] = "2026-01-01T00:00:00.000-08:00"
    if failure:
        errors: list[JsonValue] = [{"code": operation.get("code") or RATE, "message": failure}]
        answer |= {"error": {"errors": errors}, "httpErrorStatusCode": 503, "httpErrorMessage": "SERVICE UNAVAILABLE"}
    return answer


def begin(request: Request, sort: str, target: str, failure: str = "", code: str = "") -> JsonObject:
    """Starts an operation on a resource. ``code`` is that of the ``failure`` it ends with."""
    scope = "/".join(target.split("/")[: 3 if target.split("/")[2] == "global" else 4])
    name = f"operation-{request.cloud.number():013d}-emulator"
    operation: JsonObject = {"type": sort, "target": target, "scope": scope, "failure": failure, "code": code}
    request.cloud.begin(name, operation, request.seconds)
    return shown(request, name)


@answers(*(f"compute.{scope}Operations.{verb}" for scope in ("global", "region", "zone") for verb in ("get", "wait")))
def operation(request: Request) -> JsonObject:
    """Returns an operation with its progress."""
    if (name := request.at["operation"]) not in request.cloud.operations:
        raise not_found(f"projects/{request.at['project']}/operations/{name}")
    return shown(request, name)


@answers("compute.zones.get")
def zone(request: Request) -> JsonObject:
    """Returns a zone."""
    name = request.at["zone"]
    if name.count("-") < 2:
        raise not_found(f"projects/{request.at['project']}/zones/{name}")
    region = compute_link(f"projects/{request.at['project']}/regions/{zones.region_of(name)}")
    return {"kind": "compute#zone", "id": digits(name, 4), "name": name, "region": region, "status": "UP"}


@answers("compute.regions.get")
def region(request: Request) -> JsonObject:
    """Returns a region with its zones and quotas."""
    name, project = request.at["region"], request.at["project"]
    catalogued = {one for one in zones.known_zones() if zones.region_of(one) == name}
    names = sorted({f"{name}-{letter}" for letter in LETTERS[:3]} | catalogued)
    links: list[JsonValue] = [compute_link(f"projects/{project}/zones/{one}") for one in names]
    shown: JsonObject = {"kind": "compute#region", "id": digits(name, 4), "name": name, "status": "UP", "zones": links}
    shown["quotas"] = of_region(request.cloud, project, name)
    return shown


def _reclaimed(request: Request, pool: str) -> bool:
    """Whether Google has taken the pool's hosts away and the group is making them again: its size stays as it was."""
    with request.cloud.state() as cloud_state:
        record = cloud_state.get(NODE_POOL, pool)
        if record is None:
            return False
        if fault := request.cloud.faults.strike("reclaimed", request.method.id, pool):
            record["reclaimedUntil"] = time.time() + (number(fault, "seconds") or 60)
        until = record.get("reclaimedUntil")
    return isinstance(until, int | float) and time.time() < until


def _group(request: Request, pool: str, nodes: int) -> JsonObject:
    scope, name = f"projects/{request.at['project']}/zones/{request.at['zone']}", group_name(pool)
    gone = nodes if _reclaimed(request, pool) else 0
    return {
        "kind": "compute#instanceGroupManager",
        "id": digits(pool + scope),
        "name": name,
        "zone": compute_link(scope),
        "baseInstanceName": name.removesuffix("-grp"),
        "targetSize": nodes,
        "instanceGroup": compute_link(f"{scope}/instanceGroups/{name}"),
        "selfLink": compute_link(f"{scope}/instanceGroupManagers/{name}"),
        "currentActions": {"none": nodes - gone, "creating": gone},
        "status": {"isStable": not gone},
    }


@answers("compute.instanceGroupManagers.list")
def groups(request: Request) -> JsonObject:
    """Lists the instance groups of the node pools in a zone."""
    pools = pools_in(request.cloud, request.at["project"], request.at["zone"])
    items: list[JsonValue] = [_group(request, pool, nodes) for pool, nodes in sorted(pools.items())]
    return request.page("items", items, kind="compute#instanceGroupManagerList")


@answers("compute.instanceGroupManagers.get")
def group(request: Request) -> JsonObject:
    """Lists the nodes of one pool in one zone."""
    wanted = request.at["instanceGroupManager"]
    for pool, nodes in pools_in(request.cloud, request.at["project"], request.at["zone"]).items():
        if group_name(pool) == wanted:
            return _group(request, pool, nodes)
    raise not_found(f"projects/{request.at['project']}/zones/{request.at['zone']}/instanceGroupManagers/{wanted}")
