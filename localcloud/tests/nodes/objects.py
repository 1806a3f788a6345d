"""Pools, pods and nodes for the tests."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

from localcloud.google_api.rules.pools_view import RunningPool
from localcloud.nodes import nodes
from localcloud.nodes.autoscaler import NodeGroup

CLUSTER = "projects/demo/locations/europe-west4/clusters/serving"
TAINT = ("google.com/tpu", "present", "NoSchedule")


def tpu_pool(name: str = "v6e", **changed: Any) -> RunningPool:
    """A pool of ct6e-standard-4t hosts, autoscaled from 0 to 4."""
    pool = RunningPool(
        id=f"{CLUSTER}/nodePools/{name}",
        name=name,
        cluster=CLUSTER,
        machine_type="ct6e-standard-4t",
        zones=("europe-west4-a",),
        minimum=0,
        maximum=4,
        initial=0,
        hosts=1,
        chips=4,
        vcpus=180,
        memory_gb=720,
        max_pods=110,
        labels={
            "cloud.google.com/gke-nodepool": name,
            "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
            "cloud.google.com/gke-tpu-topology": "2x2",
            "cloud.google.com/gke-accelerator-count": "4",
        },
        taints=(TAINT,),
        resource=TAINT[0],
    )
    return replace(pool, **changed)


def system_pool(**changed: Any) -> RunningPool:
    """One e2-standard-8 per zone."""
    pool = replace(
        tpu_pool("system"),
        machine_type="e2-standard-8",
        chips=0,
        vcpus=8,
        memory_gb=32,
        labels={"cloud.google.com/gke-nodepool": "system"},
        taints=(),
        minimum=1,
    )
    return replace(pool, **changed)


def pod(chips: int = 0, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    """A pending pod; with chips it tolerates the TPU taint, as GKE sees to for pods that ask for some."""
    resources = {"requests": {"cpu": cpu}, **({"limits": {"google.com/tpu": str(chips)}} if chips else {})}
    return {
        "metadata": {"name": "p", "namespace": "n", "uid": uuid.uuid4().hex},
        "spec": {
            "containers": [{"name": "main", "image": "vllm/vllm-tpu:v1", "resources": resources}],
            "tolerations": [{"key": "google.com/tpu", "operator": "Exists"}] if chips else [],
            **spec,
        },
    }


def group(pool: RunningPool, size: int = 0, priority: int = 0) -> NodeGroup:
    """The pool as the autoscaler sees it."""
    template = nodes.template(pool, pool.zones[0])
    return NodeGroup(
        pool=pool.id,
        name=pool.name,
        size=size,
        maximum=pool.maximum,
        step=pool.hosts,
        template=template,
        priority=priority,
    )
