"""The life of one container: prepared, started, probed, restarted with back-off, terminated.

Back-off: the first restart comes at once, the next after 10 s (here less, :class:`.Timings`), 20 s … 5 min, and the
series starts over after ten minutes without a failure
(https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from llmd_common.kubernetes.fields import Object, part, text
from localcloud.nodes import probes, runtime
from localcloud.nodes.environment import MissingObject
from localcloud.nodes.images import NoImage
from localcloud.nodes.logs import forget
from localcloud.nodes.runtime import Launch, NotStarted, Process
from localcloud.nodes.states import ContainerRecord, Running, Terminated, Waiting, now
from localcloud.nodes.timings import Timings
from localcloud.nodes.volumes import NotImitated

LONGEST_BACKOFF_SECONDS = 300.0
BACKOFF_RESET_SECONDS = 600.0
RETRY_SECONDS = 1.0
"""Seconds between two attempts to find a missing Secret, or a missing entry in the image table."""
DEFAULT_GRACE_SECONDS = 30.0
MESSAGE_LIMIT = 2048


@dataclass(frozen=True)
class PodContext:
    """The parts of its pod that a container needs. ``launch`` raises MissingObject, NoImage, NotImitated or
    ValueError.
    """

    pod: Object
    sandbox: int
    address: str
    root: Path
    logs: Path
    launch: Callable[[Object, Path], Awaitable[Launch]]
    record_event: Callable[[str, str, bool], None]
    changed: Callable[[], None]
    timings: Timings


class Container:
    """One container of a pod. ``restarts``: ``Always``, ``OnFailure`` or ``Never``."""

    def __init__(self, spec: Object, record: ContainerRecord, context: PodContext, restarts: str) -> None:
        self.spec = spec
        self.record = record
        self._context = context
        self._restarts = restarts
        self._process: Process | None = None
        self._environment: dict[str, str] = {}
        self._stopping = asyncio.Event()
        self.started = asyncio.Event()
        """Set once the container runs and its startup probe, if any, has passed."""

    async def run(self) -> None:
        """Runs the container until it is not restarted any more: by its restart policy, or because it was stopped."""
        failures = 0
        while not self._stopping.is_set():
            began = time.monotonic()
            code = await self._once()
            if code is None or self._stopping.is_set():
                return
            if self._restarts == "Never" or (self._restarts == "OnFailure" and code == 0):
                return
            failures = 1 if time.monotonic() - began > BACKOFF_RESET_SECONDS else failures + 1
            await self._back_off(failures)

    async def stop(self, grace_seconds: float) -> None:
        """Ends the container: preStop, SIGTERM, and SIGKILL after ``grace_seconds``."""
        self._stopping.set()
        if self._process is not None and self._process.running:
            await self._end(self._process, grace_seconds)

    def kill(self) -> None:
        """Kills the container at once."""
        self._stopping.set()
        if self._process is not None:
            self._process.send(runtime.signal.SIGKILL)

    def set(self, state: Waiting | Running | Terminated) -> None:
        """A new state, which goes into the pod's status."""
        if state != self.record.state:
            self.record.state = state
            self._context.changed()

    async def _once(self) -> int | None:
        """Runs the container once; returns the exit status, ``None`` if it was stopped before it ran."""
        log = self._context.logs / f"{self.record.name}.{self.record.restarts}.log"
        forget(self._context.logs, self.record.name, self.record.restarts)
        message_file = self._context.logs / f".{self.record.name}.termination"
        message_file.write_text("")
        self.record.container_id = f"process://{uuid.uuid4().hex}"
        launch = await self._launch(message_file)
        if launch is None:
            return None
        self._environment = launch.environment
        began = now()
        try:
            process = await runtime.start(launch, self._context.sandbox, self._context.root, log)
        except (NotStarted, OSError) as error:
            self._ended(128, began, "StartError", str(error))
            self._context.record_event("Failed", f"Error: failed to start container {self.record.name}: {error}", True)
            return 128
        self._process = process
        self.record.started = "startupProbe" not in self.spec
        self.set(Running(began))
        self._context.changed()
        self._context.record_event("Started", f"Container started: {self.record.name}", False)
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(self._watch(process))
            if self._stopping.is_set():
                process.send(runtime.signal.SIGKILL)
            code = await process.wait()
            watching.cancel()
        self._process = None
        self.started.clear()
        self._ended(code, began, "", self._termination_message(message_file, log, code))
        return code

    async def _launch(self, message_file: Path) -> Launch | None:
        while not self._stopping.is_set():
            try:
                return await self._context.launch(self.spec, message_file)
            except NoImage as error:
                self.set(Waiting("ErrImageNeverPull", str(error)))
                self._context.record_event("ErrImageNeverPull", str(error), True)
            except (MissingObject, NotImitated, ValueError, OSError) as error:
                self.set(Waiting("CreateContainerConfigError", str(error)))
                self._context.record_event("Failed", f"Error: {error}", True)
            await self._pause(RETRY_SECONDS)
        return None

    def _ended(self, code: int, began: str, reason: str, message: str) -> None:
        self.record.ready = self.record.started = False
        self.set(
            Terminated(
                exit_code=code,
                started_at=began,
                finished_at=now(),
                container_id=self.record.container_id,
                reason=reason,
                message=message,
            )
        )

    async def _back_off(self, failures: int) -> None:
        """Waits, and counts the restart."""
        ended = self.record.state
        seconds = (
            0.0
            if failures < 2
            else min(self._context.timings.back_off_seconds * 2 ** (failures - 2), LONGEST_BACKOFF_SECONDS)
        )
        if seconds:
            text = f"back-off {seconds:g}s restarting failed container={self.record.name} pod={self._name}"
            self.record.last = ended if isinstance(ended, Terminated) else None
            self.set(Waiting("CrashLoopBackOff", text))
            self._context.record_event("BackOff", text[0].upper() + text[1:], True)
            await self._pause(seconds)
        if self._stopping.is_set():
            if isinstance(ended, Terminated):
                self.set(ended)
            return
        self.record.last = ended if isinstance(ended, Terminated) else None
        self.record.restarts += 1

    @property
    def _name(self) -> str:
        return f"{self._context.pod['metadata']['name']}_{self._context.pod['metadata']['namespace']}"

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    # -- while it runs ------------------------------------------------------------------------------------------------

    async def _watch(self, process: Process) -> None:
        """Runs postStart, then the startup probe, then the readiness and liveness probes."""
        if hook := part(self.spec, "lifecycle", "postStart"):
            result = await self._hook(hook, process, DEFAULT_GRACE_SECONDS)
            if not result.ok:
                self._context.record_event("FailedPostStartHook", f"PostStartHook failed: {result.message}", True)
                await self._end(process, self._grace("postStart"))
                return
        if "startupProbe" in self.spec and not await self._startup(process):
            return
        self.record.started = True
        self.record.ready = "readinessProbe" not in self.spec
        self.started.set()
        self._context.changed()
        async with asyncio.TaskGroup() as group:
            if "readinessProbe" in self.spec:
                group.create_task(self._readiness(process))
            if "livenessProbe" in self.spec:
                group.create_task(self._liveness(process))

    async def _startup(self, process: Process) -> bool:
        async for result in probes.outcomes(self.spec["startupProbe"], lambda: self._look("startupProbe", process)):
            if result.ok:
                return True
            await self._unhealthy("startupProbe", "Startup", process)
            return False
        return False

    async def _readiness(self, process: Process) -> None:
        async for result in probes.outcomes(self.spec["readinessProbe"], lambda: self._look("readinessProbe", process)):
            if self.record.ready != result.ok and not self._stopping.is_set():
                self.record.ready = result.ok
                self._context.changed()

    async def _liveness(self, process: Process) -> None:
        async for result in probes.outcomes(self.spec["livenessProbe"], lambda: self._look("livenessProbe", process)):
            if not result.ok:
                await self._unhealthy("livenessProbe", "Liveness", process)
                return

    async def _unhealthy(self, kind: str, title: str, process: Process) -> None:
        name = self.record.name
        self._context.record_event(
            "Killing", f"Container {name} failed {title.lower()} probe, will be restarted", False
        )
        # As its own task: this one is cancelled when the process ends.
        await self._end(process, self._grace(kind))

    def _grace(self, kind: str) -> float:
        own = part(self.spec, kind).get("terminationGracePeriodSeconds")
        pods = self._context.pod["spec"].get("terminationGracePeriodSeconds")
        return float(own if own is not None else DEFAULT_GRACE_SECONDS if pods is None else pods)

    async def _look(self, kind: str, process: Process) -> probes.ProbeResult:
        result = await probes.check(
            self.spec[kind],
            self.spec,
            self._context.address,
            lambda command, seconds: self._exec(process, command, seconds),
        )
        if not result.ok and process.running:
            title = kind.removesuffix("Probe").capitalize()
            self._context.record_event("Unhealthy", f"{title} probe failed: {result.message}", True)
        return result

    async def _exec(self, process: Process, command: list[str], seconds: float) -> tuple[int, str]:
        return await runtime.execute(process, self._context.sandbox, command, self._environment, seconds)

    # -- its end ------------------------------------------------------------------------------------------------------

    async def _end(self, process: Process, grace_seconds: float) -> None:
        ends = time.monotonic() + grace_seconds
        if (hook := part(self.spec, "lifecycle", "preStop")) and grace_seconds > 0:
            watching = asyncio.create_task(process.wait())
            hooking = asyncio.create_task(self._hook(hook, process, grace_seconds))
            await asyncio.wait({watching, hooking}, return_when=asyncio.FIRST_COMPLETED)
            if hooking.done() and not hooking.result().ok:
                self._context.record_event("FailedPreStopHook", f"PreStopHook failed: {hooking.result().message}", True)
            for task in (watching, hooking):
                task.cancel()
        # Like Kubernetes: two more seconds if the hook has used the whole grace period.
        await process.end(max(ends - time.monotonic(), 2.0 if grace_seconds > 0 else 0.0))

    async def _hook(self, hook: Object, process: Process, seconds: float) -> probes.ProbeResult:
        if "sleep" in hook:
            await asyncio.sleep(float(hook["sleep"]["seconds"]))
            return probes.ProbeResult(True)
        action = {**hook, "timeoutSeconds": max(seconds, 1)}
        return await probes.check(
            action,
            self.spec,
            self._context.address,
            lambda command, most: self._exec(process, command, most),
        )

    def _termination_message(self, message_file: Path, log: Path, code: int) -> str:
        """The termination message: the container's file, else, if asked for and it failed, the end of its log."""
        message = message_file.read_text(errors="replace")[:4096]
        if message or code == 0 or text(self.spec, "terminationMessagePolicy") != "FallbackToLogsOnError":
            return message
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - MESSAGE_LIMIT))
            return file.read().decode(errors="replace")
