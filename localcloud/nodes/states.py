"""The state of a container, and its form in the pod's status.

Reasons and exit codes as the kubelet and containerd give them
(https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-states).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from llmd_common.kubernetes.fields import Object


def now() -> str:
    """The current time in Kubernetes' format, in seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Waiting:
    """Not running; ``reason`` such as ``ContainerCreating`` or ``CrashLoopBackOff``."""

    reason: str
    message: str = ""

    def as_status(self) -> Object:
        """The entry for the pod's status, by the kind of state."""
        return {"waiting": {"reason": self.reason, **({"message": self.message} if self.message else {})}}


@dataclass(frozen=True)
class Running:
    """Running; ``since`` when."""

    started_at: str

    def as_status(self) -> Object:
        """The entry for the pod's status, by the kind of state."""
        return {"running": {"startedAt": self.started_at}}


@dataclass(frozen=True)
class Terminated:
    """Terminated: exit status, reason and times."""

    exit_code: int
    started_at: str
    finished_at: str
    container_id: str
    reason: str = ""
    message: str = ""

    def as_status(self) -> Object:
        """The entry for the pod's status, by the kind of state."""
        return {
            "terminated": {
                "exitCode": self.exit_code,
                "reason": self.reason or ("Completed" if self.exit_code == 0 else "Error"),
                "startedAt": self.started_at,
                "finishedAt": self.finished_at,
                "containerID": self.container_id,
                **({"message": self.message} if self.message else {}),
            }
        }


@dataclass
class ContainerRecord:
    """A container of a pod. ``sidecar``: an init container that is restarted always, and stays."""

    name: str
    image: str
    sidecar: bool = False
    state: Waiting | Running | Terminated = field(default_factory=lambda: Waiting("ContainerCreating"))
    last: Terminated | None = None
    restarts: int = 0
    ready: bool = False
    started: bool = False
    container_id: str = ""

    @property
    def finished(self) -> bool:
        """Whether it has terminated and, by its state, is not restarted."""
        return isinstance(self.state, Terminated)

    @property
    def succeeded(self) -> bool:
        """Whether it has ended with status 0."""
        return isinstance(self.state, Terminated) and self.state.exit_code == 0

    def as_status(self) -> Object:
        """Its entry in ``containerStatuses``."""
        return {
            "name": self.name,
            "image": self.image,
            # No digest is known: nothing was pulled.
            "imageID": "",
            "restartCount": self.restarts,
            "ready": self.ready,
            "started": self.started,
            "state": self.state.as_status(),
            "lastState": self.last.as_status() if self.last else {},
            **({"containerID": self.container_id} if self.container_id else {}),
        }
