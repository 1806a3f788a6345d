"""Objects as KServe, GKE's gateway and the kubelet write them, cut down to what status reads.

``test_shapes.py`` compares them with recorded objects, the laptop cloud's ``test_operations.py`` with live ones.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


def at(minutes_ago: float) -> str:
    return (NOW - timedelta(minutes=minutes_ago)).strftime("%Y-%m-%dT%H:%M:%SZ")


def condition(kind: str, status: str = "True", reason: str = "", message: str = "", ago: float = 5) -> dict[str, Any]:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at(ago)}


def container(name: str, *, ready: bool = False, ago: float = 3, waiting: str = "", **more: Any) -> dict[str, Any]:
    state: dict[str, Any] = {"waiting": {"reason": waiting}} if waiting else {"running": {"startedAt": at(ago)}}
    return {"name": name, "ready": ready, "started": ready, "restartCount": 0, "state": state, **more}


def server(
    name: str = "qwen-kserve-abc-1",
    *containers: dict[str, Any],
    scheduled: bool = True,
    version: str = "abc",
    inits: tuple[dict[str, Any], ...] = (),
    ready: bool = False,
    age: float = 5,
) -> dict[str, Any]:
    labels = {
        "app.kubernetes.io/name": "qwen",
        "app.kubernetes.io/part-of": "llminferenceservice",
        "app.kubernetes.io/component": "llminferenceservice-workload",
        "kserve.io/component": "workload",
        "pod-template-hash": version,
    }
    chips = {"google.com/tpu": "1"}
    message = "0/3 nodes are available: 3 Insufficient google.com/tpu."
    conditions = [
        condition("PodScheduled", ago=age)
        if scheduled
        else condition("PodScheduled", "False", "Unschedulable", message)
    ]
    if ready:
        conditions.append(condition("Ready", ago=2))
    statuses = list(containers)
    if ready:
        statuses = [container("main", ready=True), container("warm-up", ready=True)]
    return {
        "metadata": {"name": name, "namespace": "models", "labels": labels, "creationTimestamp": at(age)},
        "spec": {
            "nodeName": "gke-v6e-1" if scheduled else None,
            "containers": [{"name": "main", "resources": {"limits": chips, "requests": chips}}],
        },
        "status": {
            "phase": "Running" if ready else "Pending",
            "conditions": conditions,
            "initContainerStatuses": list(inits),
            "containerStatuses": statuses,
        },
    }


def service(*conditions: dict[str, Any], generation: int = 2, observed: int = 2) -> dict[str, Any]:
    return {
        "metadata": {"name": "qwen", "namespace": "models", "generation": generation},
        "status": {"observedGeneration": observed, "conditions": list(conditions)},
    }


READY_SERVICE = service(*(condition(kind) for kind in ("WorkloadsReady", "RouterReady", "MainWorkloadReady", "Ready")))


def node(
    name: str = "gke-v6e-1", pool: str = "v6e-1", *, ready: bool = True, taints: tuple[str, ...] = ()
) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": {"cloud.google.com/gke-nodepool": pool}},
        "spec": {"taints": [{"key": key, "effect": "NoSchedule"} for key in taints]},
        "status": {
            "allocatable": {"google.com/tpu": "1"} if pool.startswith("v6e") else {"cpu": "3920m"},
            "conditions": [condition("Ready", "True" if ready else "Unknown", "KubeletReady")],
        },
    }


def gateway(
    *conditions: dict[str, Any], address: str = "10.0.0.9", routes: int = 1, name: str = "inference-gateway"
) -> dict[str, Any]:
    good = [condition("Accepted"), condition("ResolvedRefs"), condition("Programmed")]
    return {
        "metadata": {"name": name, "namespace": name},
        "status": {
            "addresses": [{"type": "IPAddress", "value": address}],
            "conditions": list(conditions) or [condition("Accepted"), condition("Programmed")],
            "listeners": [{"name": "http", "attachedRoutes": routes, "conditions": good}],
        },
    }


def attached(kind: str, name: str, *conditions: dict[str, Any], namespace: str = "models") -> dict[str, Any]:
    """An HTTPRoute or InferencePool with one parent."""
    parent = {"parentRef": {"name": "inference-gateway"}, "conditions": list(conditions)}
    return {
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "status": {"parents": [parent] if conditions else []},
    }


def policy(target: str, *conditions: dict[str, Any], namespace: str = "models") -> dict[str, Any]:
    return {
        "metadata": {"name": f"for-{target}", "namespace": namespace},
        "spec": {"targetRef": {"name": target}},
        "status": {"conditions": list(conditions)},
    }


def event(
    reason: str, about: str, message: str, *, ago: float = 3, kind: str = "Pod", count: int = 1
) -> dict[str, Any]:
    return {
        "metadata": {"name": f"{about}.{ago}", "namespace": "models"},
        "involvedObject": {"kind": kind, "name": about},
        "reason": reason,
        "message": message,
        "lastTimestamp": at(ago),
        "count": count,
    }


_ENDED = {"terminated": {"exitCode": 137, "reason": "Error"}}

EXAMPLES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("server", "pods", server(ready=True)),
    ("server", "pods", server(scheduled=False)),
    ("server", "pods", server("p", container("main", waiting="ContainerCreating"))),
    ("server", "pods", server("p", container("main", waiting="CrashLoopBackOff", lastState=_ENDED))),
    ("server", "pods", server("p", container("main"), inits=(container("storage-initializer"),))),
    ("service", "services", READY_SERVICE),
    ("node", "nodes", node(taints=("google.com/tpu",))),
    ("node", "nodes", node("gke-system-1", "system")),
    ("gateway", "gateways", gateway()),
    ("attached", "routes", attached("HTTPRoute", "qwen-route", condition("Accepted"))),
    ("attached", "pools", attached("InferencePool", "qwen-inference-pool", condition("Accepted"))),
    ("policy", "health_policies", policy("qwen-inference-pool", condition("Attached"))),
    ("policy", "backend_policies", policy("qwen-inference-pool", condition("Attached"))),
    ("event", "events", event("BackOff", "qwen-kserve-abc-1", "Back-off restarting failed container main")),
)
"""Every shape with all its parts: name of its function, kind of a snapshot, object."""

NEVER_SEEN = {".status.initContainerStatuses[].state.running.startedAt: str"}
"""Parts that a laptop cloud has not shown: its storage-initializer has nothing to load and ends at once.

Containers and init containers have the same ``ContainerStatus`` (k8s.io/api/core/v1 types.go).
"""
