"""Redis in the cluster: one pod without persistence, whose counts restart with it."""

from __future__ import annotations

from llmd_gke.catalog import front_door, registries, versions
from llmd_gke.catalog.registries import NONE, Mirrors
from llmd_gke.json_types import Json, JsonObject

ADDRESS = f"{front_door.REDIS}.{front_door.PROXIES_NAMESPACE}.svc.cluster.local:{front_door.REDIS_PORT}"
_LABELS: JsonObject = {"app.kubernetes.io/name": front_door.REDIS}
_METADATA: JsonObject = {"name": front_door.REDIS, "namespace": front_door.PROXIES_NAMESPACE}
MEMORY_MB = 256


def deployment(mirrors: Mirrors = NONE) -> JsonObject:
    """The Deployment. Counters expire by themselves; at the memory limit, Redis evicts the oldest ones."""
    arguments: list[Json] = [
        "redis-server",
        "--save",
        "",
        "--appendonly",
        "no",
        "--maxmemory",
        f"{MEMORY_MB}mb",
        "--maxmemory-policy",
        "volatile-ttl",
    ]
    container: JsonObject = {
        "name": "redis",
        "image": registries.at(versions.image("redis"), mirrors.images),
        "args": arguments,
        "ports": [{"name": "redis", "containerPort": front_door.REDIS_PORT}],
        "readinessProbe": {"tcpSocket": {"port": front_door.REDIS_PORT}, "periodSeconds": 5},
        "livenessProbe": {"tcpSocket": {"port": front_door.REDIS_PORT}, "periodSeconds": 10, "failureThreshold": 6},
        "resources": {
            "requests": {"cpu": "50m", "memory": f"{MEMORY_MB}Mi"},
            "limits": {"memory": f"{2 * MEMORY_MB}Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
            "runAsUser": 999,
            "runAsGroup": 999,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {**_METADATA, "labels": _LABELS},
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": _LABELS},
            "template": {
                "metadata": {"labels": _LABELS},
                "spec": {
                    "automountServiceAccountToken": False,
                    "containers": [container],
                    "volumes": [{"name": "data", "emptyDir": {"sizeLimit": "64Mi"}}],
                },
            },
        },
    }


def service() -> JsonObject:
    """The Service at :data:`ADDRESS`."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**_METADATA, "labels": _LABELS},
        "spec": {"selector": _LABELS, "ports": [{"name": "redis", "port": front_door.REDIS_PORT}]},
    }
