"""The emulator's contents as rows for the command line."""

from __future__ import annotations

import time

from localcloud.google_api.columns import COLUMNS
from localcloud.google_api.core.cloud import EmulatedCloud
from localcloud.google_api.core.journal import without_secrets
from localcloud.providers.protocol.values import JsonObject, JsonValue, dig, text


def rows(cloud: EmulatedCloud, what: str) -> list[JsonObject]:
    """Rows of one of :data:`~localcloud.google_api.columns.COLUMNS`. The cloud is open."""
    return {"resources": _resources, "operations": _operations, "requests": _requests, "faults": _faults}[what](cloud)


def _resources(cloud: EmulatedCloud) -> list[JsonObject]:
    return [_resource(key, body) for key, body in sorted(cloud.resources.items())]


def _resource(key: str, body: JsonObject) -> JsonObject:
    parts = key.split("/")
    where = next((parts[at + 1] for at, part in enumerate(parts) if part in ("regions", "zones", "locations")), "")
    if "global" in parts:
        where = "global"
    name = key.rpartition("/")[2]
    if "clusters" in parts[:-2]:  # a pool's name is that of its cluster, too
        name = f"{parts[parts.index('clusters') + 1]}/{name}"
    return {
        "type": {"b": "buckets"}.get(parts[-2], parts[-2]),
        "name": name,
        "location": where or text(body, "location"),
        "project": parts[1] if parts[0] == "projects" else "",
        "status": " ".join(part for part in (text(body, "status") or text(body, "state"), _cause(body)) if part),
        "body": without_secrets(body),
    }


def _cause(body: JsonObject) -> str:
    cause = text(body, "statusMessage")
    return f"({cause})" if cause else ""


def _operations(cloud: EmulatedCloud) -> list[JsonObject]:
    rows: list[JsonObject] = []
    for name, operation in cloud.operations.items():
        status, progress, failure = cloud.progress(name)
        row: JsonObject = {key: operation[key] for key in ("type", "target")}
        rows.append({"name": name, **row, "status": status, "progress": progress, "failure": failure})
    return rows


def _requests(cloud: EmulatedCloud) -> list[JsonObject]:
    """The requests, the newest first."""
    rows: list[JsonObject] = []
    for one in reversed(cloud.requests.last()):
        at = one.get("time")
        clock = time.strftime("%H:%M:%S", time.localtime(at if isinstance(at, int | float) else 0))
        row: JsonObject = {key: one.get(key, "") for key in ("status", "http", "method", "path", "body")}
        rows.append({"time": clock, **row, "error": dig(one, "error", "message") or ""})
    return rows


def _faults(cloud: EmulatedCloud) -> list[JsonObject]:
    columns = COLUMNS["faults"]
    rows: list[JsonObject] = []
    for one in cloud.faults.shown():
        fault: JsonObject = one if isinstance(one, dict) else {}
        rest: list[JsonValue] = [f"{key}={value}" for key, value in fault.items() if key not in columns]
        rows.append(
            {**{key: fault.get(key, "") for key in columns[:-1]}, "details": " ".join(str(one) for one in rest)}
        )
    return rows
