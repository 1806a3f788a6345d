"""Objects of a small cluster: a PodMonitoring, pods, policies, as the API server gives them."""

from __future__ import annotations

from typing import Any

from llmd_common.kubernetes.fields import Object
from localcloud.monitoring.targets import Where

WHERE = Where("demo", "europe-west4", "serving")


def pod(name: str, *, namespace: str = "models", **changes: Any) -> Object:
    """A running model server of a Deployment ``qwen-kserve``."""
    made: Object = {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"app": "server", "app.kubernetes.io/name": "qwen", "pod-template-hash": "abc"},
            "ownerReferences": [{"kind": "ReplicaSet", "name": "qwen-kserve-abc", "controller": True}],
        },
        "spec": {
            "nodeName": "node-1",
            "containers": [{"name": "main", "ports": [{"name": "http", "containerPort": 8000}]}],
        },
        "status": {"phase": "Running", "podIP": "10.244.0.9"},
    }
    for path, value in changes.items():
        made["status" if path in ("phase", "podIP") else "spec"][path] = value
    return made


def monitoring(endpoint: Object, *, metadata: list[str] | None = None, **spec: Any) -> Object:
    """A PodMonitoring ``servers`` of pods with ``app: server``."""
    labels: Object = {"metadata": metadata} if metadata is not None else {}
    return {
        "metadata": {"name": "servers", "namespace": "models"},
        "spec": {
            "selector": {"matchLabels": {"app": "server"}},
            "endpoints": [{"interval": "30s", **endpoint}],
            "targetLabels": {**labels, **spec.pop("targetLabels", {})},
            **spec,
        },
    }


def policy(name: str, *rules: Object, selector: Object | None = None, **spec: Any) -> Object:
    """A NetworkPolicy of the models' namespace with these rules of ingress."""
    return {
        "metadata": {"name": name, "namespace": "models"},
        "spec": {"podSelector": selector or {}, "policyTypes": ["Ingress"], "ingress": list(rules), **spec},
    }
