"""Node objects, as GKE and its kubelet make them.

Labels: https://cloud.google.com/kubernetes-engine/docs/concepts/node-images and ``how-to/tpus``; reserved CPU, memory
and disk: https://cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from llmd_common.kubernetes.fields import Object
from localcloud.google_api.rules.pools_view import RunningPool
from localcloud.nodes.states import now
from localcloud.product import zones

POOL_ANNOTATION = "laptop.llmd-gke/node-pool"
"""Annotation of a node with the id of its pool."""
FINGERPRINT_ANNOTATION = "laptop.llmd-gke/fingerprint"
SLICE_ANNOTATION = "laptop.llmd-gke/slice"
"""Annotation of a node with its slice: nodes with the same value are created and deleted together."""
KUBELET_PORT = 10250
MOST_NODES = 254
ALPHABET = "bcdfghjklmnpqrstvwxz0123456789"
DEFAULT_VCPUS, DEFAULT_MEMORY_GB = 2, 4

BOOT_DISK = ("98831908Ki", "47060071478")
"""Capacity and allocatable of GKE's default boot disk of 100 GB."""


@dataclass(frozen=True)
class Template:
    """Labels, taints and resources of a new node of a pool, for scheduler and autoscaler."""

    labels: Mapping[str, str]
    taints: tuple[tuple[str, str, str], ...]
    capacity: Mapping[str, str]
    allocatable: Mapping[str, str]


def reserved_millicores(vcpus: int) -> int:
    """CPU that GKE keeps for the node: 6 % of the first core, 1 % of the next, 0.5 % of two, 0.25 % of the rest."""
    shares = (60, 10, 5, 5)
    return round(sum(shares[:vcpus]) + 2.5 * max(vcpus - 4, 0))


def reserved_mebibytes(memory_gb: int) -> int:
    """Memory that GKE keeps: a share that falls with every step, and 100 MiB below which pods are evicted."""
    left, kept = float(memory_gb), 0.0
    for step, share in ((4, 0.25), (4, 0.20), (8, 0.10), (112, 0.06)):
        part = min(left, step)
        kept += part * share
        left -= part
    return round((kept + left * 0.02) * 1024) + 100


def template(pool: RunningPool, zone: str) -> Template:
    """A new node of that pool in that zone."""
    vcpus, memory = pool.vcpus or DEFAULT_VCPUS, pool.memory_gb or DEFAULT_MEMORY_GB
    chips = {pool.resource: str(pool.chips)} if pool.chips else {}
    region = zones.region_of(zone)
    labels = {
        **pool.labels,
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/instance-type": pool.machine_type,
        "cloud.google.com/gke-container-runtime": "containerd",
        "cloud.google.com/gke-os-distribution": "cos",
        "cloud.google.com/gke-provisioning": "spot" if "cloud.google.com/gke-spot" in pool.labels else "standard",
        "cloud.google.com/machine-family": pool.machine_type.partition("-")[0],
        "failure-domain.beta.kubernetes.io/region": region,
        "failure-domain.beta.kubernetes.io/zone": zone,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": pool.machine_type,
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone,
    }
    pods = str(pool.max_pods)
    return Template(
        labels,
        pool.taints,
        {"cpu": str(vcpus), "memory": f"{memory}Gi", "ephemeral-storage": BOOT_DISK[0], "pods": pods, **chips},
        {
            "cpu": f"{vcpus * 1000 - reserved_millicores(vcpus)}m",
            "memory": f"{memory * 1024 - reserved_mebibytes(memory)}Mi",
            "ephemeral-storage": BOOT_DISK[1],
            "pods": pods,
            **chips,
        },
    )


def name_of(pool: RunningPool) -> str:
    """A new instance's name: cluster, pool, a hash of both and four characters, as GKE's instance groups give."""
    cluster = pool.cluster.rpartition("/")[2]
    digest = hashlib.sha256(pool.id.encode()).hexdigest()[:8]
    end = "".join(secrets.choice(ALPHABET) for _ in range(4))
    return f"gke-{cluster[:20].strip('-')}-{pool.name[:20].strip('-')}-{digest}-{end}"


def index_for(taken: Collection[int]) -> int | None:
    """The lowest free number of a node, which determines its addresses; ``None`` if all are in use."""
    return next((number for number in range(1, MOST_NODES + 1) if number not in taken), None)


def index_of(node: Object) -> int:
    """The number of a node of ours, from its range of pod addresses."""
    return int(str(node["spec"]["podCIDR"]).split(".")[2])


def address_of(index: int) -> str:
    """A node's own address."""
    return f"10.128.0.{index}"


def pod_range_of(index: int) -> str:
    """The addresses of a node's pods: a /24, as on GKE with up to 110 pods."""
    return f"10.244.{index}.0/24"


def node(pool: RunningPool, zone: str, index: int, *, name: str, slice_name: str, version: str) -> Object:
    """The object as the kubelet registers it. ``version``: of the API server, such as ``v1.36.3``."""
    shape = template(pool, zone)
    project = pool.id.split("/")[1]
    pod_range = pod_range_of(index)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {**shape.labels, "kubernetes.io/hostname": name},
            "annotations": {
                POOL_ANNOTATION: pool.id,
                FINGERPRINT_ANNOTATION: pool.fingerprint,
                SLICE_ANNOTATION: slice_name,
            },
        },
        "spec": {
            "providerID": f"gce://{project}/{zone}/{name}",
            "podCIDR": pod_range,
            "podCIDRs": [pod_range],
            "taints": [{"key": key, "value": value, "effect": effect} for key, value, effect in shape.taints],
        },
        "status": {
            "capacity": dict(shape.capacity),
            "allocatable": dict(shape.allocatable),
            "addresses": [
                {"type": "InternalIP", "address": address_of(index)},
                {"type": "Hostname", "address": name},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": KUBELET_PORT}},
            "nodeInfo": {
                "kubeletVersion": version,
                "kubeProxyVersion": "",
                "containerRuntimeVersion": "process://llmd-gke",
                "operatingSystem": "linux",
                "architecture": "amd64",
                "osImage": "Container-Optimized OS from Google (laptop cloud)",
                "kernelVersion": "",
                "machineID": "",
                "systemUUID": "",
                "bootID": "",
            },
            "conditions": conditions(now()),
        },
    }


def conditions(since: str) -> list[Object]:
    """A healthy node's conditions, with a heartbeat of now."""
    healthy = (
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    )
    return [
        {
            "type": kind,
            "status": value,
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": now(),
            "lastTransitionTime": since,
        }
        for kind, value, reason, message in healthy
    ]
