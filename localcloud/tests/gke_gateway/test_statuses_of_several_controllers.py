"""Two controllers write the same list: GKE's stand-in, and Envoy AI Gateway."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast
from unittest.mock import MagicMock, Mock

import httpx

from llmd_common.kubernetes.client import Kube
from localcloud.gke_gateway import statuses
from localcloud.gke_gateway.applied_config import Store
from localcloud.gke_gateway.controller import Controller
from localcloud.gke_gateway.envoy.files import EnvoyFiles
from localcloud.gke_gateway.resources.objects import POOL, snapshot_of
from localcloud.providers.protocol.values import JsonObject
from localcloud.tests.gke_gateway import builders as b
from localcloud.tests.gke_gateway.test_attachment_and_statuses import look

DOORS: JsonObject = {
    "parentRef": {"kind": "Gateway", "namespace": "front-door", "name": "front-door"},
    "conditions": [{"type": "Accepted", "status": "True", "reason": "Accepted"}],
}


class Server:
    """One object. A patch with another ``resourceVersion`` than the object's gets 409, one without any is applied
    (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions).
    """

    def __init__(self, obj: dict[str, Any]) -> None:
        self.object = obj

    @contextlib.asynccontextmanager
    async def call_api(self, method: str, *, content: str, **_: object) -> AsyncGenerator[httpx.Response]:
        patch = json.loads(content)
        current = self.object["metadata"]["resourceVersion"]
        assert method == "PATCH"
        if patch.get("metadata", {}).get("resourceVersion", current) != current:
            yield httpx.Response(409, json={"reason": "Conflict", "message": "the object has been modified"})
            return
        metadata = {**self.object["metadata"], "resourceVersion": str(int(current) + 1)}
        self.object = {**self.object, "metadata": metadata, "status": {**patch["status"]}}
        yield httpx.Response(200, json=self.object)


def seen(pool: JsonObject, version: int, *parents: JsonObject) -> JsonObject:
    metadata = {**cast("JsonObject", pool["metadata"]), "resourceVersion": str(version)}
    return {**pool, "metadata": metadata, "status": {"parents": [*parents]}}


def test_an_entry_that_came_since_the_last_look_is_not_overwritten(tmp_path: Path) -> None:
    gateway, route = b.gateway(), b.route("r", b.rule("/", b.to_pool("qwen")))
    pool = b.pool("qwen", 8000)
    before, now = seen(pool, 1), seen(pool, 2, DOORS)
    server = Server(cast("dict[str, Any]", now))
    controller = Controller(
        Kube(cast("Any", server)), MagicMock(), EnvoyFiles(tmp_path), Store(tmp_path / "programs"), Mock()
    )

    def write(present: JsonObject) -> list[JsonObject]:
        snapshot = snapshot_of(gateway, route, present, b.service("picker", port=9002))
        wanted = {"parents": statuses.pool_parents(present, [look(snapshot, tmp_path)])}
        asyncio.run(controller.write_status(POOL, present, wanted))
        return cast("list[JsonObject]", server.object["status"]["parents"])

    assert write(before) == [DOORS], "refused: the watch reports the newer one"
    both = write(now)
    assert both[0] == DOORS
    assert len(both) == 2
