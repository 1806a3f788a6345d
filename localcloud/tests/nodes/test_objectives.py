"""How callers' priorities reach the picker of the laptop cloud, which reads the older kind of InferenceObjective."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Any, cast

import pytest

from llmd_common.kubernetes.client import Kube, KubeError, NotFound, Resource
from llmd_gke.catalog import front_door
from localcloud.nodes import objectives
from localcloud.nodes.objectives import changes, copy, is_copy


def objective(name: str, priority: int = 10, group: str = "llm-d.ai") -> dict[str, Any]:
    pool = {"group": "inference.networking.k8s.io", "name": "pool"}
    return {
        "apiVersion": f"{group}/v1alpha2",
        "kind": "InferenceObjective",
        "metadata": {"name": name, "namespace": "models", "uid": name, "resourceVersion": "1"},
        "spec": {"priority": priority, "poolRef": pool},
    }


def test_an_objective_is_copied_with_its_priority_and_pool() -> None:
    write, delete = changes([objective("team-a")], [])
    assert write == [copy(objective("team-a"))]
    assert delete == []
    assert write[0]["apiVersion"] == "inference.networking.x-k8s.io/v1alpha2"
    assert write[0]["spec"] == objective("team-a")["spec"]
    assert is_copy(write[0])
    assert changes([objective("team-a")], write) == ([], []), "what is copied is not written again"


def test_a_changed_priority_is_copied_and_a_deleted_objective_takes_its_copy_along() -> None:
    present = [copy(objective("team-a")), copy(objective("batch", -10))]
    write, delete = changes([objective("team-a", 20)], present)
    assert [one["spec"]["priority"] for one in write] == [20]
    assert delete == [("models", "batch")]


def test_an_objective_of_a_user_in_the_older_group_is_left_alone() -> None:
    own = objective("team-a", 5, group="inference.networking.x-k8s.io")
    assert changes([objective("team-a")], [own]) == ([], [])
    assert changes([], [own]) == ([], [])


def test_what_is_copied_is_the_kind_that_the_program_creates() -> None:
    assert objectives.CREATED.group_version == front_door.OBJECTIVE_VERSION
    assert objectives.definition()["metadata"]["name"] == "inferenceobjectives.inference.networking.x-k8s.io"


class Cluster:
    """Serves the newer kind from the second look on, and refuses the first copy."""

    def __init__(self) -> None:
        self.looks = 0
        self.refusals = 1
        self.written: list[tuple[str, str]] = []
        self.copied = asyncio.Event()

    async def list(self, _: Resource) -> list[Any]:
        self.looks += 1
        if self.looks == 1:
            raise NotFound(404, "NotFound", "no such kind")
        return []

    async def listing(self, resource: Resource, *_: object) -> tuple[list[Any], str]:
        return ([objective("team-a")] if resource == objectives.CREATED else []), "1"

    @contextlib.asynccontextmanager
    async def open(self, *_: object, **__: object) -> AsyncGenerator[None]:
        await asyncio.Event().wait()
        yield

    async def apply(self, resource: Resource, obj: Any, **_: object) -> Any:
        if resource == objectives.READ and self.refusals:
            self.refusals -= 1
            raise KubeError(500, "InternalError", "etcd is away")
        self.written.append((resource.plural, obj["metadata"]["name"]))
        if resource == objectives.READ:
            self.copied.set()
        return {**obj, "metadata": {**obj["metadata"], "uid": "copy", "resourceVersion": "2"}}


def test_the_older_kind_comes_with_the_newer_one_and_a_refused_copy_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(objectives, "PAUSE_SECONDS", 0.0)

    async def play() -> Cluster:
        cluster = Cluster()
        task = asyncio.create_task(objectives.run(cast("Kube", cluster)))
        await asyncio.wait_for(cluster.copied.wait(), 10)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return cluster

    cluster = asyncio.run(play())
    assert cluster.looks == 2
    assert cluster.written == [
        ("customresourcedefinitions", "inferenceobjectives.inference.networking.x-k8s.io"),
        ("inferenceobjectives", "team-a"),
    ]
