"""Finds crash loops in a cluster: of processes by the supervisor's status, of containers by their pods' status."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from rich.console import Console

from llmd_common.kubernetes.fields import each, part, text
from llmd_common.problems import Problem
from localcloud.cluster import kubectl, logs
from localcloud.cluster.processes import API_SERVER
from localcloud.cluster.service import STABLE_SECONDS
from localcloud.common import cluster_status as status
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir
from localcloud.linux_namespaces import discover

TOO_OFTEN = 3
"""Number of consecutive crashes after which an update is stopped, because waiting longer is useless."""

LOOK_SECONDS = 10.0
"""Seconds between two lists of pods during an update."""

OLDER_SECONDS = 90.0
"""Seconds that an update has to replace a crashing pod that is older than the update, which may fix it."""

TEMPLATE = "pod-template-hash"
"""Label of a Deployment's pods (kubernetes.io/docs/concepts/workloads/controllers/deployment)."""

Object = Mapping[str, object]


@dataclass(frozen=True)
class Crash:
    """A process or container that crashed: how often in a row, how it ended the last time, and its log."""

    what: str
    ends: int
    how: str
    log: Path
    pod: str = ""

    def __str__(self) -> str:
        return f"{self.what} has exited {self.ends} time{'' if self.ends == 1 else 's'} (last: {self.how})"

    def with_log(self) -> str:
        """The description with the end of the log."""
        return f"{self}. The end of {self.log}:\n{logs.tail(self.log)}"


def processes(layout: Layout, cluster: status.Status) -> list[Crash]:
    """The processes that ended and have not run for a minute since."""
    return [
        Crash(one.name, one.exits, one.last_exit, layout.log(one.name))
        for one in cluster.processes
        if one.exits and not (one.state == "ready" and time.time() - one.since > STABLE_SECONDS)
    ]


def containers(layout: Layout, listed: Sequence[Object]) -> list[Crash]:
    """The containers that have ended and wait for their next start, without those that a newer pod replaces."""
    return [
        crash
        for pod in listed
        if not text(pod, "metadata", "deletionTimestamp") and not _replaced(pod, listed)
        for kind in ("initContainerStatuses", "containerStatuses")
        for container in each(pod, "status", kind)
        if (crash := _crash(layout, pod, container))
    ]


def _crash(layout: Layout, pod: Object, container: Object) -> Crash | None:
    state = part(container, "state")
    ended = part(state, "terminated") or part(container, "lastState", "terminated")
    waits = text(state, "waiting", "reason") == "CrashLoopBackOff"
    if not (waits or part(state, "terminated")) or ended.get("exitCode") in (None, 0):
        return None
    namespace, name = text(pod, "metadata", "namespace"), text(pod, "metadata", "name")
    own, starts = text(container, "name"), cast("int", container.get("restartCount") or 0)
    log = layout.pods / f"{namespace}_{name}" / f"{own}.{starts}.log"
    what = f"container {own} of pod {namespace}/{name}"
    return Crash(what, starts + 1, f"status {ended['exitCode']}", log, pod=text(pod, "metadata", "uid"))


def _replaced(pod: Object, listed: Sequence[Object]) -> bool:
    """Whether the pod's Deployment has since created a pod of another template."""
    made = text(pod, "metadata", "creationTimestamp")
    return any(
        _deployment(other) == _deployment(pod) != ("", "")
        and text(other, "metadata", "labels", TEMPLATE) != text(pod, "metadata", "labels", TEMPLATE)
        and text(other, "metadata", "creationTimestamp") > made
        for other in listed
    )


def _deployment(pod: Object) -> tuple[str, str]:
    """Namespace and name of a pod's Deployment; empty texts if it has none."""
    template = text(pod, "metadata", "labels", TEMPLATE)
    owners = [text(owner, "name") for owner in each(pod, "metadata", "ownerReferences")]
    if not template or not owners:
        return "", ""
    return text(pod, "metadata", "namespace"), owners[0].removesuffix(f"-{template}")


def pods(workdir: Workdir) -> list[Object]:
    """All pods; empty if the API server does not answer."""
    try:
        done = kubectl.run(workdir, "get", "pods", "-A", "-o", "json", "--request-timeout=5s")
    except Problem:
        return []
    return list(each(cast("Object", json.loads(done.stdout)), "items")) if done.returncode == 0 else []


def serving(cluster: status.Status | None) -> bool:
    """Whether the API server runs and can be queried."""
    return cluster is not None and any(one.name == API_SERVER and one.state == "ready" for one in cluster.processes)


def problems(workdir: Workdir) -> list[str]:
    """Sentences about what keeps crashing; empty if nothing does."""
    if discover.running(workdir.home) is None:
        return ["it is not running"]
    layout = Layout(workdir.home)
    cluster = status.read(layout.status)
    ended = processes(layout, cluster) if cluster else []
    if serving(cluster):
        ended += [one for one in containers(layout, pods(workdir)) if one.ends >= TOO_OFTEN]
    return [one.with_log() for one in ended]


@dataclass
class Watch:
    """Decides whether an update has to be stopped because of a crash loop; ``cause`` is then set to its description."""

    workdir: Workdir
    console: Console
    cause: str = ""
    _began: float = field(default_factory=time.monotonic)
    _looked: float = -LOOK_SECONDS
    _older: set[str] | None = None

    def __call__(self) -> bool:
        """Checks the processes, and every ten seconds the pods; returns whether the update has to be stopped."""
        layout = Layout(self.workdir.home)
        cluster = status.read(layout.status)
        crashed = [one for one in processes(layout, cluster) if _waits(one, cluster)] if cluster else []
        if not crashed and serving(cluster) and time.monotonic() - self._looked >= LOOK_SECONDS:
            self._looked = time.monotonic()
            crashed = self._containers(layout)
        worst = next((one for one in crashed if one.ends >= TOO_OFTEN), None)
        if worst:
            self.cause = str(worst)
            message = f"\ncluster: {worst}: this update cannot succeed, so it is stopped."
            self.console.print(message, highlight=False, soft_wrap=True, markup=False)
        return bool(worst)

    def _containers(self, layout: Layout) -> list[Crash]:
        listed = pods(self.workdir)
        if self._older is None:
            self._older = {text(pod, "metadata", "uid") for pod in listed}
        late = time.monotonic() - self._began > OLDER_SECONDS
        return [one for one in containers(layout, listed) if late or one.pod not in self._older]


def _waits(crash: Crash, cluster: status.Status) -> bool:
    """Whether the process does not run at this moment: one that runs again may recover."""
    return any(one.name == crash.what and one.state == "pausing" for one in cluster.processes)
