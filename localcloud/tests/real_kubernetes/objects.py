"""Objects of a laptop cloud's API server, as plain data, and what they are to each other."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Protocol

Object = dict[str, Any]
MODELS = "models"


class Asks(Protocol):
    """Somebody who runs ``kubectl`` inside and returns its output."""

    def kubectl(self, *arguments: str) -> str:
        """Runs it; fails the test with its message when it fails."""
        ...


def every(cloud: Asks, kind: str, *arguments: str, namespace: str | None = None) -> list[Object]:
    """The objects of a kind, of one namespace or of all."""
    where = ["-n", namespace] if namespace else ["-A"]
    return json.loads(cloud.kubectl("get", kind, *where, *arguments, "-o", "json"))["items"]


def one(cloud: Asks, kind: str, name: str, namespace: str) -> Object | None:
    """One object, ``None`` where there is none."""
    printed = cloud.kubectl("get", kind, name, "-n", namespace, "--ignore-not-found", "-o", "json")
    return json.loads(printed) if printed.strip() else None


def name(thing: Object) -> str:
    """``metadata.name``."""
    return thing["metadata"]["name"]


def names(things: Iterable[Object]) -> set[str]:
    """The names of several."""
    return {name(thing) for thing in things}


def condition(thing: Object, kind: str) -> str:
    """``True``, ``False``, ``Unknown``; ``""`` where there is none of that type."""
    conditions = thing.get("status", {}).get("conditions", [])
    return next((entry["status"] for entry in conditions if entry["type"] == kind), "")


def why(thing: Object) -> str:
    """The conditions as one text, for messages of tests."""
    conditions = thing.get("status", {}).get("conditions", [])
    return "; ".join(f"{c['type']}={c['status']} {c.get('reason', '')} {c.get('message', '')}" for c in conditions)


def is_ready(pod: Object) -> bool:
    """Whether a pod takes requests."""
    return condition(pod, "Ready") == "True" and "deletionTimestamp" not in pod["metadata"]


def restarts(pod: Object) -> int:
    """How often containers of a pod were started again, sidecars included."""
    status = pod["status"]
    every = [*status.get("containerStatuses", []), *status.get("initContainerStatuses", [])]
    return sum(one["restartCount"] for one in every)


def owned(things: Iterable[Object], owner: Object) -> list[Object]:
    """Those that ``owner`` owns directly."""
    uid = owner["metadata"]["uid"]
    return [t for t in things if any(ref["uid"] == uid for ref in t["metadata"].get("ownerReferences", []))]


def pods_of(cloud: Asks, deployment: str, namespace: str = MODELS) -> list[Object]:
    """The pods that a Deployment owns through its ReplicaSets: by owner references, never by labels."""
    owner = one(cloud, "deployment", deployment, namespace)
    if owner is None:
        return []
    pods = every(cloud, "pods", namespace=namespace)
    sets = owned(every(cloud, "replicasets", namespace=namespace), owner)
    return [pod for part in sets for pod in owned(pods, part)]


def arguments(pod: Object) -> list[str]:
    """The server's arguments."""
    return next(c for c in pod["spec"]["containers"] if c["name"] == "main").get("args", [])


def variables(pod: Object) -> dict[str, str]:
    """The environment of a pod's main containers."""
    return {one["name"]: one.get("value", "") for part in pod["spec"]["containers"] for one in part.get("env", [])}


def verdict(route: Object | None) -> dict[str, Any]:
    """Conditions that GKE's controller has written, by type."""
    parents = (route or {}).get("status", {}).get("parents", [])
    result = [one for one in parents if one["controllerName"] == "networking.gke.io/gateway"]
    return {one["type"]: one for one in result[0]["conditions"]} if result else {}
