"""Models that span the hosts of one slice: a leader that serves, its workers, and the preset that KServe lacks.

KServe creates a LeaderWorkerSet of ``parallelism.pipeline`` pods (kserve ``workload_multi_node.go``), one per host.
LeaderWorkerSet's webhook tells each pod its place in the slice (``TPU_WORKER_ID``, ``TPU_WORKER_HOSTNAMES`` …:
kubernetes-sigs/lws v0.9.0 ``pkg/utils/accelerators/tpu.go``): none of these variables is set here. Within the group the
server is distributed by Ray (vllm-project/tpu-inference ``tpu_inference/platforms/tpu_platform.py`` @b8692ff01:
``TPU_MULTIHOST_BACKEND=ray``). Nobody has published such a service on v6e: it is an experiment, see
``docs/multi-host.md``.
"""

from __future__ import annotations

from pathlib import Path

from llmd_gke.catalog import kserve
from llmd_gke.catalog.accelerators import POOL_LABEL
from llmd_gke.json_types import Json, JsonObject, kubernetes_object
from llmd_gke.manifests import naming
from llmd_gke.settings import PoolSettings

EXCLUSIVE = "leaderworkerset.sigs.k8s.io/exclusive-topology"
"""Annotation that KServe copies from a service to its LeaderWorkerSet: no other group uses the same node pool."""

SCRIPT = Path(__file__).with_name("host_group.py")


def environment(pool: PoolSettings) -> list[JsonObject]:
    """Variables that only servers of a group need."""
    return [
        *({"name": name, "value": value} for name, value in pool.accelerator.group_environment.items()),
        # Otherwise Ray and the server would choose one of the pod's addresses.
        {"name": "VLLM_HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    ]


def parallelism(pool: PoolSettings) -> JsonObject:
    """The group: as many pods as the slice has hosts, each with a host's devices.

    KServe reads the number of pods from ``pipeline``. The server's arguments determine how the model is split over all
    these devices (``--tensor-parallel-size``, ``--pipeline-parallel-size``).
    """
    return {"tensor": pool.slice.devices_per_host, "pipeline": pool.slice.hosts}


def command(role: str, *then: str) -> list[Json]:
    """The command of a container that joins the group as ``leader`` or ``worker``."""
    return ["python3", "-c", SCRIPT.read_text(encoding="utf-8"), role, *then]


def worker(leader: JsonObject, server: JsonObject) -> JsonObject:
    """The pod template of the other hosts: that of the leader without probes and warm-up, since it serves no requests.

    When its Ray process exits, the container exits, and LeaderWorkerSet restarts the whole group.
    """
    kept = {key: value for key, value in server.items() if key != "args" and not key.endswith("Probe")}
    return {**leader, "containers": [{**kept, "command": command("worker")}]}


def preset(namespace: str) -> JsonObject:
    """``kserve-config-llm-worker-pipeline-parallel`` for the services of one namespace.

    KServe merges it into every service whose workers are pipeline-parallel, refers to it in ``config_merge.go``, and
    ships none (kserve/kserve#5047). This preset has the parts of KServe's single-host preset
    (``config-llm-template.yaml``) that a TPU pod needs; image, arguments and hosts come from the model's own
    configuration. A namespace's configuration is found before KServe's own.
    """
    names = {"home": "/home", "tmp-dir": "/tmp", "dshm": "/dev/shm", "model-cache": "/models"}  # noqa: S108
    container: JsonObject = {
        "name": "main",
        "imagePullPolicy": "IfNotPresent",
        "env": [{"name": "HOME", "value": "/home"}, {"name": "HF_HUB_CACHE", "value": "/models"}],
        "securityContext": {
            "readOnlyRootFilesystem": False,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "lifecycle": {"preStop": {"exec": {"command": ["/bin/sleep", str(kserve.PRE_STOP_SECONDS)]}}},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [{"name": name, "mountPath": path} for name, path in names.items()],
    }
    volumes: list[Json] = [{"name": name, "emptyDir": {"medium": "Memory"} if name == "dshm" else {}} for name in names]
    serving: JsonObject = {"containers": [{**container, "ports": [{"containerPort": kserve.WORKLOAD_PORT}]}]}
    spec: JsonObject = {
        "template": {**serving, "volumes": volumes},
        "worker": {"containers": [container], "volumes": volumes},
    }
    return kubernetes_object(kserve.API_VERSION, kserve.CONFIG, naming.WORKER_PRESET, namespace, spec=spec)


def placement() -> JsonObject:
    """Annotations of a service for its LeaderWorkerSet."""
    return {EXCLUSIVE: POOL_LABEL}
