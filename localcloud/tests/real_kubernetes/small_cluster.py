"""A cluster with node pools and no program: what the kubelet and the service proxy are tested on."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

from localcloud.google_api.rules.references import CLUSTER, NODE_POOL
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.objects import condition

PROCESSES = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "service-proxy", "kubelet")
IDENT = "projects/demo/locations/europe-west4/clusters/serving"
ZONE = "europe-west4-a"


def pool(name: str, machine: str, **properties: Any) -> dict[str, Any]:
    """What the Google stand-in keeps of a node pool that runs."""
    inputs = {"name": name, "cluster": "serving", "nodeLocations": [ZONE], "nodeConfig": {"machineType": machine}}
    return {f"{IDENT}/nodePools/{name}": {"status": "RUNNING", "inputs": {**inputs, **properties}}}


def between(low: int, high: int) -> dict[str, Any]:
    """An autoscaler's bounds."""
    return {"autoscaling": {"minNodeCount": low, "maxNodeCount": high}}


SYSTEM = pool("system", "e2-standard-8", **between(1, 2))


def set_pools(laptop: Laptop, *pools: dict[str, Any]) -> None:
    """Makes these the node pools, in one step, as the stand-in writes its file."""
    made = {ident: record for one in pools for ident, record in one.items()}
    cluster = {IDENT: {"status": "RUNNING", "inputs": {"name": "serving", "location": "europe-west4"}}}
    file = laptop.workdir.cloud / "google.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    new.write_text(json.dumps({"objects": {CLUSTER: cluster, NODE_POOL: made}}))
    new.replace(file)


@contextlib.contextmanager
def cluster(folder: Path, **environment: str) -> Generator[Laptop]:
    """A cluster with one system node; ``environment`` is the kubelet's."""
    made = Laptop(folder)
    made.environ |= environment
    set_pools(made, SYSTEM)
    try:
        made.start(*PROCESSES)
        until(lambda: ready_nodes(made, "system"), "a system node", 60)
        yield made
    finally:
        made.stop_everything()


def listed(laptop: Laptop, *arguments: str) -> list[dict[str, Any]]:
    """The objects that ``kubectl get`` lists."""
    return (laptop.get(*arguments) or {"items": []})["items"]


def ready_nodes(laptop: Laptop, pool_name: str) -> list[str]:
    """Names of the pool's nodes that are Ready and take pods."""
    return [
        node["metadata"]["name"]
        for node in listed(laptop, "nodes", "-l", f"cloud.google.com/gke-nodepool={pool_name}")
        if not node["spec"].get("unschedulable") and condition(node, "Ready") == "True"
    ]


def container(obj: dict[str, Any], name: str = "main") -> dict[str, Any]:
    """A container's status; an empty one where there is none yet."""
    status = obj.get("status") or {}
    every = [*(status.get("containerStatuses") or []), *(status.get("initContainerStatuses") or [])]
    return next((one for one in every if one["name"] == name), {})


def pod(name: str, *containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A pod; a container without an image has a shell and Python."""
    made = [{"name": "main", "image": "python:3", **one} for one in containers]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": name}},
        "spec": {"terminationGracePeriodSeconds": 2, "containers": made, **spec},
    }
