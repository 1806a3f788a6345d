"""The Job whose pods ask for a pool's early hosts, where GKE starts hosts for pending pods only.

Its pods are pending while the platform is installed, so the autoscaler starts their hosts. The Job is suspended before
the model's pods exist, which removes its pods that still wait. Hosts being created remain, and the model's pods
take them. If both were pending, the autoscaler would start a host for each: it counts hosts that are starting, but one
has room for one pod with all chips (kubernetes/autoscaler ``cluster-autoscaler/FAQ.md``, "How does scale-up work?").
"""

from __future__ import annotations

from llmd_gke.json_types import Json, JsonObject, kubernetes_object
from llmd_gke.manifests import naming
from llmd_gke.manifests.server_pod import NOBODY, node_selector, tolerations
from llmd_gke.settings import ModelSettings, PoolSettings

SKIP_AWAIT: JsonObject = {"pulumi.com/skipAwait": "true"}
"""Nothing waits for the Job itself: it is suspended, or its pods end on their hosts."""

LONGEST_SECONDS = 3600
"""A pod that never ends, because its image cannot be pulled for example, must not hold a TPU host after an update has
failed. Long enough for the installation of the platform, during which nothing else asks for the host."""


def job(pool: PoolSettings, model: ModelSettings) -> JsonObject:
    """One pod for each early host. On a host that is ready before the model's pods exist, it pulls the server's image
    and ends. ``model``: one on the pool; its namespace and image are used.
    """
    chips: JsonObject = {**pool.accelerator.resources(pool.slice)}
    container: JsonObject = {
        "name": "ask",
        "image": model.image,
        "command": ["true"],
        "resources": {"requests": {**chips, "cpu": "20m", "memory": "64Mi"}, "limits": {**chips, "memory": "64Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    pull: list[Json] = [{"name": naming.PULL_SECRET}]
    pod: JsonObject = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "nodeSelector": node_selector(pool),
        "tolerations": tolerations(pool),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": NOBODY,
            "runAsGroup": NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        **({"imagePullSecrets": pull} if model.private_image else {}),
        "containers": [container],
    }
    spec: JsonObject = {
        "parallelism": pool.early_hosts,
        "completions": pool.early_hosts,
        "activeDeadlineSeconds": LONGEST_SECONDS,
        "template": {"spec": pod},
    }
    name = naming.early_hosts(pool.name)
    return kubernetes_object("batch/v1", "Job", name, model.namespace, annotations={**SKIP_AWAIT}, spec=spec)


def suspended(pool: PoolSettings, namespace: str) -> JsonObject:
    """The fields of a patch that removes those of the Job's pods that still wait.

    It is forced: who creates a Job owns the fields that the API server fills in, ``suspend`` among them, and
    server-side apply of another manager is a conflict. The provider creates since 4.29; before, it applied, and owned
    what it wrote only.
    """
    name = naming.early_hosts(pool.name)
    annotations: JsonObject = {**SKIP_AWAIT, "pulumi.com/patchForce": "true"}
    return {"metadata": {"name": name, "namespace": namespace, "annotations": annotations}, "spec": {"suspend": True}}
