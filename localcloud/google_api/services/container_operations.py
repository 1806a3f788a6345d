"""Operations of GKE: start, progress, and messages of failures."""

from __future__ import annotations

from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.services.links import GKE
from localcloud.providers.protocol.values import JsonObject, JsonValue


def begin(
    request: Request,
    sort: str,
    target: str,
    ending: str = "",
    *,
    failure: str = "",
    stored: JsonObject | None = None,
) -> JsonObject:
    """Starts an operation on a cluster or pool, which ``failure`` ends with. ``ending``: see :meth:`Cloud.begin`.

    ``stored`` is the target as it was before; a deletion that fails gives it back.
    """
    name = f"operation-{request.cloud.number():013d}-emulator"
    operation: JsonObject = {"type": sort, "target": target, "failure": failure}
    if stored is not None:
        operation["stored"] = stored
    request.cloud.begin(name, operation, request.seconds, ending)
    return shown(request, name)


def shown(request: Request, name: str) -> JsonObject:
    """An operation as GKE shows it."""
    operation = request.cloud.operations[name]
    status, progress, failure = request.cloud.progress(name)
    target = str(operation["target"])
    parent = "/".join(target.split("/")[:4])
    metrics: list[JsonValue] = [{"name": "PERCENT", "intValue": str(progress)}]
    answer: JsonObject = {
        "name": name,
        "operationType": operation["type"],
        "status": status,
        "selfLink": f"{GKE}/{parent}/operations/{name}",
        "targetLink": f"{GKE}/{target}",
        "location": target.split("/")[3],
        "startTime": "2026-01-01T00:00:00.000000Z",
    }
    if status != "DONE":
        answer["progress"] = {"name": name, "status": status, "metrics": metrics}
    else:
        answer["endTime"] = "2026-01-01T00:00:00.000000Z"
    if failure:
        answer |= {"statusMessage": failure, "error": {"code": 13, "message": failure}}
    return answer


@answers("container.projects.locations.operations.get")
def get(request: Request) -> JsonObject:
    """Returns an operation with its progress."""
    name = request.at["name"].rpartition("/")[2]
    if name not in request.cloud.operations:
        raise ApiError(404, f"Not found: {request.at['name']}.")
    return shown(request, name)
