"""A pod's status from what is known of its containers, as the kubelet writes it.

https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/; k8s.io/kubernetes ``pkg/kubelet/status/generate.go``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from llmd_common.kubernetes.fields import Object, each, part
from localcloud.nodes.states import ContainerRecord, Running, Waiting, now

REPLACED: Object = {"$patch": "replace"}
"""Directive for a list that is merged by key: replaces the whole list. A pod has one address of each kind."""


@dataclass
class Pod:
    """The kubelet's knowledge of a pod. ``address`` is empty until its sandbox exists; ``failed``: reason and text."""

    init: list[ContainerRecord]
    main: list[ContainerRecord]
    restart_policy: str
    node_address: str
    started_at: str = field(default_factory=now)
    address: str = ""
    initialized: bool = False
    ended: bool = False
    failed: tuple[str, str] | None = None


def phase(pod: Pod) -> str:
    """Pending until a main container has run, then Running; at the end Succeeded, or Failed if one of them did."""
    if pod.failed:
        return "Failed"
    # Only the main containers count; a failed init container ends a pod that is not restarted.
    blocked = [record for record in pod.init if record.finished and not record.succeeded]
    if pod.ended:
        every = [*pod.main, *(record for record in pod.init if not record.sidecar)]
        return "Succeeded" if all(record.succeeded for record in every) else "Failed"
    if blocked or not pod.initialized:
        return "Pending"
    ran = [record for record in pod.main if isinstance(record.state, Running) or record.last or record.finished]
    return "Running" if len(ran) == len(pod.main) or any(isinstance(k.state, Running) for k in pod.main) else "Pending"


def conditions(pod: Pod) -> dict[str, tuple[bool, str, str]]:
    """Type to truth, reason and text. Readiness gates are not imitated: no pod of the platform has any."""
    done = phase(pod) in ("Succeeded", "Failed")
    sidecars = [record for record in pod.init if record.sidecar]
    unready = [record.name for record in (*sidecars, *pod.main) if not record.ready]
    uninitialised = [
        record.name for record in pod.init if not (record.succeeded or (record.sidecar and record.started))
    ]
    ready = (True, "", "")
    if unready:
        ready = (False, "ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]")
    if done:
        ready = (False, "PodCompleted" if phase(pod) == "Succeeded" else "PodFailed", "")
    completed = "PodCompleted" if done else ""
    return {
        "PodReadyToStartContainers": (bool(pod.address), "", ""),
        "Initialized": (
            pod.initialized or phase(pod) == "Succeeded",
            completed if pod.initialized else "ContainersNotInitialized",
            "" if pod.initialized else f"containers with incomplete status: [{' '.join(uninitialised)}]",
        ),
        "ContainersReady": ready,
        "Ready": ready,
        "PodScheduled": (True, "", ""),
    }


def status(pod: Pod, obj: Object) -> Object:
    """The whole status, for a strategic merge: conditions of others stay. ``obj``: the pod as last seen."""
    existing = {one["type"]: one for one in each(obj, "status", "conditions")}
    generation = obj["metadata"].get("generation")
    conditions_: list[Object] = []
    for kind, (truth, reason, message) in conditions(pod).items():
        value = "True" if truth else "False"
        old = part(existing, kind)
        conditions_.append(
            {
                "type": kind,
                "status": value,
                "reason": reason or None,
                "message": message or None,
                "lastProbeTime": None,
                "lastTransitionTime": old.get("lastTransitionTime") if old.get("status") == value else now(),
                **({"observedGeneration": generation} if generation else {}),
            }
        )
    address = pod.address
    return {
        "phase": phase(pod),
        "reason": pod.failed[0] if pod.failed else None,
        "message": pod.failed[1] if pod.failed else None,
        "startTime": pod.started_at,
        "hostIP": pod.node_address,
        "hostIPs": [{"ip": pod.node_address}, REPLACED],
        "conditions": conditions_,
        # A restarted kubelet assigns another address: a merge would keep both, which is rejected.
        **({"podIP": address, "podIPs": [REPLACED, {"ip": address}]} if address else {}),
        **({"initContainerStatuses": [record.as_status() for record in pod.init]} if pod.init else {}),
        "containerStatuses": [record.as_status() for record in pod.main],
        **({"observedGeneration": generation} if generation else {}),
    }


def known_containers(obj: Object) -> Pod:
    """The containers of a new pod; with ``PodInitializing`` where others run first."""
    inits = [
        ContainerRecord(str(one["name"]), str(one["image"]), one.get("restartPolicy") == "Always")
        for one in each(obj, "spec", "initContainers")
    ]
    mains = [ContainerRecord(str(one["name"]), str(one["image"])) for one in each(obj, "spec", "containers")]
    for position, record in enumerate([*inits, *mains]):
        record.state = Waiting("PodInitializing" if inits and position else "ContainerCreating")
    return Pod(inits, mains, str(obj["spec"].get("restartPolicy") or "Always"), "", initialized=not inits)
