"""Service Usage: the APIs of a project."""

from __future__ import annotations

import re

from localcloud.google_api.core.cloud import PROJECT_NUMBER
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.rules.projects import ALWAYS_ON
from localcloud.providers.protocol.values import JsonObject, JsonValue, texts

EVERY = "*"
"""In the fault ``enabledApis``: all APIs."""
_SERVICE = re.compile(r"projects/([^/]+)(?:/services/([^/]+))?")


def _parts(request: Request) -> tuple[str, str]:
    match = _SERVICE.fullmatch(next(iter(request.at.values())))
    return (match[1], match[2] or "") if match else ("", "")


def _service(name: str, enabled: bool) -> JsonObject:
    config: JsonObject = {"name": name}
    return {
        "name": f"projects/{PROJECT_NUMBER}/services/{name}",
        "parent": f"projects/{PROJECT_NUMBER}",
        "config": config,
        "state": "ENABLED" if enabled else "DISABLED",
    }


def _enabled(request: Request, project: str) -> set[str]:
    with request.cloud.state() as cloud_state:
        return cloud_state.enabled(project) | ALWAYS_ON | (cloud_state.faults.listed("enabledApis") - {EVERY})


def _is_on(request: Request, project: str, name: str) -> bool:
    return EVERY in request.cloud.faults.conditions.listed("enabledApis") or name in _enabled(request, project)


def _set(request: Request, project: str, names: list[str], on: bool) -> JsonObject:
    with request.cloud.state() as cloud_state:
        before = cloud_state.enabled(project)
        cloud_state.enable(project, before | set(names) if on else before - set(names))
    name = f"acat.p2-{request.cloud.number()}"
    request.cloud.begin(name, {"type": "enable", "target": f"projects/{project}"}, request.seconds)
    return _operation(request, f"operations/{name}")


def _operation(request: Request, name: str) -> JsonObject:
    key = name.removeprefix("operations/")
    if key not in request.cloud.operations:  # of before the emulator was started
        return {"name": name, "done": True, "response": {}}
    status, _, failure = request.cloud.progress(key)
    answer: JsonObject = {"name": name, "done": status == "DONE"}
    if status == "DONE":
        error: JsonObject = {"code": 13, "message": failure}
        answer |= {"error": error} if failure else {"response": {}}
    return answer


@answers("serviceusage.services.get")
def get(request: Request) -> JsonObject:
    """Returns an API with its state."""
    project, name = _parts(request)
    return _service(name, _is_on(request, project, name))


@answers("serviceusage.services.list")
def list_(request: Request) -> JsonObject:
    """Lists the enabled APIs of a project."""
    project, _ = _parts(request)
    items: list[JsonValue] = [_service(name, True) for name in sorted(_enabled(request, project))]
    return request.page("services", items, "pageSize")


@answers("serviceusage.services.batchGet")
def batch_get(request: Request) -> JsonObject:
    """Returns several APIs with their states."""
    project, _ = _parts(request)
    asked = [name.rpartition("/")[2] for name in request.query.get("names", "").split(",") if name]
    return {"services": [_service(name, _is_on(request, project, name)) for name in asked]}


@answers("serviceusage.services.batchEnable")
def batch_enable(request: Request) -> JsonObject:
    """Enables several APIs."""
    project, _ = _parts(request)
    return _set(request, project, texts(request.body, "serviceIds"), True)


@answers("serviceusage.services.enable", "serviceusage.services.disable")
def switch(request: Request) -> JsonObject:
    """Enables or disables an API."""
    project, name = _parts(request)
    return _set(request, project, [name], request.method.id.endswith(".enable"))


@answers("serviceusage.operations.get")
def operation(request: Request) -> JsonObject:
    """Returns an operation with its progress."""
    return _operation(request, request.at["name"])
