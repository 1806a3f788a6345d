"""The life of one pod on one of our nodes.

Sandbox and volumes, init containers one after the other (side-cars stay), main containers together; its status as it
changes; and its end: preStop and SIGTERM, side-cars last, in reverse order. The processes of its pods end with the
kubelet; a new kubelet starts them again, which counts as a restart of each container.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tenacity import AsyncRetrying, before_sleep_log, retry_if_exception_type, wait_fixed

from llmd_common.kubernetes.client import PODS, Kube, KubeError, Unreachable
from llmd_common.kubernetes.fields import Object, each, part
from localcloud.nodes import mesh, status
from localcloud.nodes.container import RETRY_SECONDS, Container, PodContext
from localcloud.nodes.environment import MissingObject
from localcloud.nodes.events import Recorder
from localcloud.nodes.launch_spec import LaunchBuilder
from localcloud.nodes.logs import LogFile
from localcloud.nodes.runtime import Launch
from localcloud.nodes.sandbox import Sandbox, open_sandbox
from localcloud.nodes.states import ContainerRecord, Terminated, now
from localcloud.nodes.volumes import NotImitated, Volumes

log = logging.getLogger(__name__)

LONGEST_PAUSE_SECONDS = 16.0
"""Seconds between attempts to set up a pod, which begin with one; the arrival of what was missing counts at once."""
RENEW_SECONDS = 30.0
"""Seconds between two checks of tokens; Secrets and ConfigMaps are updated when they change."""
SETTLE_SECONDS = 0.05
"""Seconds within which changes are combined into one write of the status."""

UNTIL_IT_WORKS = AsyncRetrying(
    retry=retry_if_exception_type((KubeError, *Unreachable)),
    wait=wait_fixed(RETRY_SECONDS),
    before_sleep=before_sleep_log(log, logging.DEBUG),
)
"""Repeats a request until the API server accepts it."""


@dataclass(frozen=True)
class PodNode:
    """The node a pod runs on."""

    name: str
    address: str
    allocatable: Mapping[str, str]


@dataclass(frozen=True)
class Host:
    """What all pods share. ``folder``: ``cluster/pods``; ``memory``: a folder in memory; ``root``: an empty folder."""

    kube: Kube
    recorder: Recorder
    launch_builder: LaunchBuilder
    folder: Path
    memory: Path
    shared: Path
    root: Path


class PodWorker:
    """Runs one pod (one uid) until it is deleted."""

    def __init__(self, host: Host, obj: Object, node: PodNode, address: str) -> None:
        self.obj = obj
        self._host = host
        self._node = node
        self._address = address
        meta = obj["metadata"]
        self._folder = host.folder / f"{meta['namespace']}_{meta['name']}"
        self._volumes = Volumes(
            pod=obj,
            folder=self._folder,
            memory=host.memory / str(meta["uid"]),
            shared=host.shared,
            sources=host.launch_builder.sources,
            kube=host.kube,
            allocatable=node.allocatable,
        )
        self._records = status.known_containers(obj)
        self._records.node_address = node.address
        self._containers: list[Container] = []
        self._changed = asyncio.Event()
        self._deleted = asyncio.Event()
        self.content_changed = asyncio.Event()
        """To be set when a Secret or ConfigMap has changed."""
        self._removed = False
        self._grace = 30.0

    def update(self, obj: Object) -> None:
        """Stores a new version of the pod's object."""
        self.obj = obj
        self._volumes.pod = obj
        self.content_changed.set()
        if obj["metadata"].get("deletionTimestamp"):
            self._grace = float(obj["metadata"].get("deletionGracePeriodSeconds") or 0)
            self._deleted.set()

    def remove(self) -> None:
        """Ends everything at once, because the pod was removed from the API server (a forced deletion)."""
        self._removed = True
        self._grace = 0
        self._deleted.set()
        for container in self._containers:
            container.kill()

    def log(self, container: str, *, previous: bool) -> LogFile | None:
        """The log of a container, of the present run or the one before."""
        every = (*self._records.init, *self._records.main)
        record = next((one for one in every if one.name == container), None)
        if record is None:
            return None
        number = record.restarts - (1 if previous else 0)
        return LogFile(
            self._folder / f"{container}.{number}.log",
            lambda: record.restarts == number and not record.finished,
        )

    async def run(self) -> None:
        """Runs the pod until it has been deleted."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for stale in self._folder.glob("*.log"):
            stale.unlink()
        sandbox: Sandbox | None = None
        writer = asyncio.create_task(self._write_status())
        try:
            if self._resumed():
                sandbox = await self._sandbox()
                if sandbox:
                    await self._live(sandbox)
            await self._deleted.wait()
        finally:
            if sandbox:
                await sandbox.close()
            writer.cancel()
            self._volumes.remove()
        if not self._removed:
            await self._finish()

    def _resumed(self) -> bool:
        """Restores the state that an earlier kubelet wrote; returns ``False`` if the pod must not run (again)."""
        self.update(self.obj)
        before = part(self.obj, "status")
        if before.get("phase") in ("Succeeded", "Failed"):
            return False
        if not before.get("startTime"):
            return True
        self._records.started_at = str(before["startTime"])
        statuses = {
            one["name"]: one
            for kind in ("initContainerStatuses", "containerStatuses")
            for one in each(self.obj, "status", kind)
        }
        ran = False
        for record in (*self._records.init, *self._records.main):
            old = part(statuses, record.name)
            record.restarts = int(old.get("restartCount") or 0)
            if running := part(old, "state", "running"):
                ran = True
                record.restarts += 1
                record.last = Terminated(
                    exit_code=137,
                    started_at=str(running["startedAt"]),
                    finished_at=now(),
                    container_id=str(old.get("containerID") or ""),
                    reason="ContainerStatusUnknown",
                    message="The kubelet was restarted, and its pods with it",
                )
        if ran and self._records.restart_policy == "Never":
            self._records.failed = ("ContainerStatusUnknown", "The kubelet was restarted while the pod ran")
            self._changed.set()
            return False
        return True

    async def _sandbox(self) -> Sandbox | None:
        """The sandbox with the volumes in place, ``None`` if the pod must terminate before that."""
        meta = self.obj["metadata"]
        pause = RETRY_SECONDS
        while not self._deleted.is_set():
            self.content_changed.clear()
            try:
                await self._volumes.write()
                injected = mesh.is_injected(self.obj)
                sandbox = await open_sandbox(str(meta["uid"]), str(meta["name"]), self._address, injected=injected)
            except (MissingObject, NotImitated, KubeError, ValueError) as error:
                self._record_event("FailedMount", f"MountVolume.SetUp failed: {error}", True)
            except (OSError, *Unreachable) as error:
                self._record_event("FailedCreatePodSandBox", f"Failed to create pod sandbox: {error}", True)
            else:
                self._records.address = self._address
                self._changed.set()
                return sandbox
            await self._pause(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        return None

    async def _live(self, sandbox: Sandbox) -> None:
        updating = asyncio.create_task(self._update_volumes())
        living = asyncio.create_task(self._containers_in_turn(sandbox))
        deleted = asyncio.create_task(self._deleted.wait())
        try:
            await asyncio.wait({living, deleted}, return_when=asyncio.FIRST_COMPLETED)
            if not living.done():
                await self._stop_all(self._grace)
            await living
        except BaseException:
            for container in self._containers:
                container.kill()
            raise
        finally:
            for task in (updating, living, deleted):
                task.cancel()

    async def _containers_in_turn(self, sandbox: Sandbox) -> None:
        context = PodContext(
            pod=self.obj,
            sandbox=sandbox.pid,
            address=self._address,
            root=self._host.root,
            logs=self._folder,
            launch=self._launch,
            record_event=self._record_event,
            changed=self._changed.set,
            timings=self._host.launch_builder.timings,
        )
        policy = self._records.restart_policy
        async with asyncio.TaskGroup() as group:
            sidecars: list[Container] = []
            for spec, record in zip(each(self.obj, "spec", "initContainers"), self._records.init, strict=True):
                container = self._container(spec, record, context, "Always" if record.sidecar else _init_policy(policy))
                running = group.create_task(container.run())
                if record.sidecar:
                    sidecars.append(container)
                    started = asyncio.create_task(container.started.wait())
                    await asyncio.wait({running, started}, return_when=asyncio.FIRST_COMPLETED)
                    started.cancel()
                else:
                    await running
                    record.ready = record.succeeded
                if self._deleted.is_set() or not (record.sidecar or record.succeeded):
                    break
            else:
                self._records.initialized = True
                self._changed.set()
                specs = zip(each(self.obj, "spec", "containers"), self._records.main, strict=True)
                mains = [self._container(spec, record, context, policy) for spec, record in specs]
                await asyncio.gather(*(group.create_task(container.run()) for container in mains))
            if not self._deleted.is_set():
                for container in reversed(sidecars):
                    await container.stop(self._spec_grace())
        self._records.ended = True
        self._changed.set()

    def _container(self, spec: Object, record: ContainerRecord, context: PodContext, policy: str) -> Container:
        container = Container(spec, record, context, policy)
        self._containers.append(container)
        if self._deleted.is_set():
            container.kill()
        return container

    async def _stop_all(self, grace_seconds: float) -> None:
        ends = asyncio.get_running_loop().time() + grace_seconds
        sidecars = [one for one in self._containers if one.record.sidecar]
        self._record_event("Killing", "Stopping the pod's containers", False)
        await asyncio.gather(*(one.stop(grace_seconds) for one in self._containers if not one.record.sidecar))
        for container in reversed(sidecars):
            await container.stop(max(ends - asyncio.get_running_loop().time(), min(grace_seconds, 2.0)))

    def _spec_grace(self) -> float:
        given = self.obj["spec"].get("terminationGracePeriodSeconds")
        return 30.0 if given is None else float(given)

    async def _launch(self, spec: Object, message_file: Path) -> Launch:
        return self._host.launch_builder.launch(
            self.obj,
            spec,
            self._volumes,
            address=self._address,
            message_file=message_file,
            allocatable=self._node.allocatable,
        )

    async def _update_volumes(self) -> None:
        while True:
            self.content_changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(RENEW_SECONDS):
                    await self.content_changed.wait()
            try:
                await self._volumes.write()
            except (MissingObject, NotImitated, KubeError, *Unreachable, ValueError, OSError) as error:
                log.debug("%s: %s", self._folder.name, error)

    def _record_event(self, reason: str, message: str, warning: bool) -> None:
        self._host.recorder.record_event(self.obj, reason, message, warning=warning)

    async def _pause(self, seconds: float) -> None:
        """Waits ``seconds``, or until the pod is to terminate or a Secret or ConfigMap has changed."""
        waiting = [asyncio.create_task(event.wait()) for event in (self._deleted, self.content_changed)]
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()

    # -- the API server -----------------------------------------------------------------------------------------------

    async def _write_status(self) -> None:
        self._changed.set()
        while True:
            await self._changed.wait()
            await asyncio.sleep(SETTLE_SECONDS)
            self._changed.clear()
            await self._patch()

    async def _patch(self) -> None:
        """Writes the status; repeats it until it succeeds or the pod is deleted."""
        meta = self.obj["metadata"]

        @UNTIL_IT_WORKS.wraps
        async def write() -> None:
            # The uid spares a successor of the same name.
            content = {"metadata": {"uid": meta["uid"]}, "status": status.status(self._records, self.obj)}
            try:
                await self._host.kube.patch(
                    PODS, str(meta["name"]), content, str(meta["namespace"]), subresource="status", strategic=True
                )
            except KubeError as error:
                if error.code not in (404, 409, 422):
                    raise
                if error.code != 404:
                    log.warning("status of %s: %s", self._folder.name, error)

        await write()

    async def _finish(self) -> None:
        """Writes the last status, then confirms the deletion, for which the API server waits."""
        meta = self.obj["metadata"]
        await self._patch()
        delete = UNTIL_IT_WORKS.wraps(self._host.kube.delete)
        await delete(PODS, str(meta["name"]), str(meta["namespace"]), grace_seconds=0, uid=str(meta["uid"]))


def _init_policy(policy: str) -> str:
    """Init containers run once, whatever the pod's policy says about success."""
    return "Never" if policy == "Never" else "OnFailure"
