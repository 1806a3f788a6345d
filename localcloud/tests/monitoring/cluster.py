"""Objects of a small cluster: pods and policies, as the API server gives them."""

from __future__ import annotations

from typing import Any

from llmd_common.kubernetes.fields import Object


def pod(name: str, *, namespace: str = "models", **changes: Any) -> Object:
    """A running model server."""
    made: Object = {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"app": "server", "app.kubernetes.io/name": "qwen"},
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


def policy(name: str, *rules: Object, **spec: Any) -> Object:
    """A NetworkPolicy of the models' namespace with these rules of ingress."""
    return {
        "metadata": {"name": name, "namespace": "models"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": list(rules), **spec},
    }
