"""What a pod's worker writes to an API server that refuses it now and then."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from tenacity import wait_fixed, wait_none

from llmd_common.kubernetes.client import Conflict, KubeError, NotFound
from localcloud.nodes import pod
from localcloud.nodes.pod import Host, PodNode, PodWorker

POD: dict[str, Any] = {
    "metadata": {"name": "web", "namespace": "models", "uid": "u1"},
    "spec": {"containers": [{"name": "main", "image": "web:1"}]},
}
BUSY = KubeError(503, "ServiceUnavailable", "the server is busy")
LOST = httpx.ConnectError("connection refused")
GONE = NotFound(404, "NotFound", "gone")
OTHER = Conflict(409, "Conflict", "another uid")
INVALID = KubeError(422, "Invalid", "a field")


class Server:
    """Refuses as often as it is told, then takes what comes."""

    def __init__(self, *refusals: Exception) -> None:
        self.refusals = list(refusals)
        self.patched: list[object] = []
        self.deleted: list[object] = []

    def _refuse(self) -> None:
        if self.refusals:
            raise self.refusals.pop(0)

    async def patch(self, _resource: object, name: str, content: dict[str, Any], *_: object, **__: object) -> None:
        self.patched.append((name, content["metadata"]["uid"]))
        self._refuse()

    async def delete(self, _resource: object, name: str, *_: object, uid: str, **__: object) -> None:
        self.deleted.append((name, uid))
        self._refuse()


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod.UNTIL_IT_WORKS, "wait", wait_none())


def worker(server: Server, folder: Path) -> PodWorker:
    host = SimpleNamespace(
        kube=server, folder=folder, memory=folder, shared=folder, launch_builder=SimpleNamespace(sources=())
    )
    return PodWorker(cast("Host", host), POD, PodNode("n", "10.0.0.1", {}), "10.244.0.2")


def test_a_status_is_written_again_until_the_server_takes_it(tmp_path: Path) -> None:
    server = Server(BUSY, LOST)
    asyncio.run(worker(server, tmp_path)._patch())
    assert server.patched == [("web", "u1")] * 3


@pytest.mark.parametrize("refusal", [GONE, OTHER, INVALID])
def test_a_status_that_no_attempt_can_write_is_given_up(tmp_path: Path, refusal: KubeError) -> None:
    server = Server(refusal)
    asyncio.run(worker(server, tmp_path)._patch())
    assert len(server.patched) == 1


def test_a_pod_that_has_ended_is_deleted_until_the_server_does_it(tmp_path: Path) -> None:
    server = Server(GONE, BUSY, LOST, OTHER)
    asyncio.run(worker(server, tmp_path)._finish())
    assert (len(server.patched), server.deleted) == (1, [("web", "u1")] * 4)


def test_no_attempt_is_made_after_the_worker_was_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod.UNTIL_IT_WORKS, "wait", wait_fixed(60))
    server = Server(BUSY)

    async def cancelled() -> None:
        task = asyncio.ensure_future(worker(server, tmp_path)._patch())
        while not server.patched:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert len(server.patched) == 1
