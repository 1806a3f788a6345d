"""The parts of a pod with a model server: arguments, probes, security, the container that warms up."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from llmd_gke.catalog import compute_class, kserve
from llmd_gke.catalog.accelerators import POOL_LABEL
from llmd_gke.json_types import Json, JsonObject
from llmd_gke.manifests import weights
from llmd_gke.rules import parallelism, vllm_arguments
from llmd_gke.rules.vllm_arguments import LORA_MODULES, LORA_RANK, SHUTDOWN_TIMEOUT, takes_shutdown_timeout
from llmd_gke.settings import ModelSettings, PoolSettings
from llmd_gke.settings.sections.models import VariableSettings

PROBE_SECONDS = 10
EXIT_SECONDS = 5
"""From the end of ``drainSeconds`` to the end of a pod: by then the server has ended its engine, and the streams that
are left get nothing more until their connections are closed."""

WARM_UP = Path(__file__).with_name("warm_up.py")
WARM_FOLDER = "/run/warm-up"
WARM_MARK = f"{WARM_FOLDER}/done"
NOBODY = 65534


def tensor_parallel(model: ModelSettings, pool: PoolSettings) -> int:
    """Devices that share each layer: by the settings, or else the slice's divided by the other parallelisms."""
    return model.tensor_parallel or parallelism.default_tensor(model.pipeline_parallel, model.extra_args, pool.slice)


def server_arguments(model: ModelSettings, pool: PoolSettings) -> list[str]:
    """Arguments after ``vllm serve /mnt/models``.

    Both names are served: the model's own, and the one that KServe advertises in ``status.addresses``; a version has
    names of its own before them.
    """
    arguments = [
        "--served-model-name",
        *model.answers_to,
        "--port",
        str(kserve.WORKLOAD_PORT),
        "--tensor-parallel-size",
        str(tensor_parallel(model, pool)),
        "--enable-prefix-caching" if model.prefix_caching else "--no-enable-prefix-caching",
    ]
    optional = {
        "--pipeline-parallel-size": model.pipeline_parallel,
        "--max-model-len": model.max_model_len,
        "--max-num-seqs": model.max_num_seqs,
        "--max-num-batched-tokens": model.max_num_batched_tokens,
        "--dtype": _dtype(model, pool),
    }
    for name, value in optional.items():
        if value is not None:
            arguments += [name, str(value)]
    arguments += [] if names_attention(model.extra_args) else pool.family.arguments
    if model.kv_offload_gb is not None:
        gib = f"{model.kv_offload_gb * 10**9 / 2**30:.2f}"
        arguments += [word.replace("GIB", gib) for word in pool.accelerator.kv_offload]
    if vllm_arguments.takes_unlogged(model.image):
        arguments += vllm_arguments.UNLOGGED
    if takes_shutdown_timeout(model.image):
        arguments += [SHUTDOWN_TIMEOUT, str(model.drain_seconds)]
    return [*arguments, *_adapters(model), *model.extra_args]


def _adapters(model: ModelSettings) -> list[str]:
    """A server's arguments for adapters, all in one batch: vLLM's limit is one (``vllm/config/lora.py`` v0.27.0)."""
    if not model.adapters:
        return []
    modules = [{"name": one.name, "path": f"{weights.ADAPTERS_PATH}/{one.name}"} for one in model.adapters]
    rank = [] if model.adapter_rank is None else [LORA_RANK, str(model.adapter_rank)]
    return ["--enable-lora", "--max-loras", str(len(modules)), *rank, LORA_MODULES, *map(json.dumps, modules)]


def _dtype(model: ModelSettings, pool: PoolSettings) -> str | None:
    """The data type to write: of chips without bfloat16 also where the settings leave it to the server."""
    default = None if "bfloat16" in pool.family.dtypes else pool.family.dtypes[0]
    return default if model.dtype == "auto" else model.dtype


def names_attention(arguments: Iterable[str]) -> bool:
    """Whether further arguments choose the attention backend, and thus not the family's."""
    return any(one.name.startswith("--attention-") for one in vllm_arguments.read(arguments))


def grace_seconds(model: ModelSettings) -> int:
    """Seconds that a pod has to terminate: KServe's pause, ``drainSeconds`` for running requests, and those to exit."""
    return kserve.PRE_STOP_SECONDS + model.drain_seconds + EXIT_SECONDS


def node_selector(pool: PoolSettings) -> JsonObject:
    """Selects the nodes of the model's pool, with the labels that GKE requires of pods with accelerators.

    GKE rejects TPU pods without accelerator and topology, and a 2x4 is ambiguous without count. The pool's name
    distinguishes two pools of one shape, such as a reserved and a spot one. Of a pool with a list of capacities the
    ComputeClass takes the place of its name: which node pool the pod gets depends on what there is.
    """
    chosen = {POOL_LABEL: pool.name} if pool.compute_class is None else {compute_class.LABEL: pool.compute_class}
    return {**chosen, **pool.accelerator.node_labels(pool.family, pool.slice)}


def tolerations(pool: PoolSettings) -> list[Json]:
    """Tolerations for the taints of the pool's nodes: GKE's own, and that of the pool's ComputeClass."""
    kind = pool.accelerator
    taken: list[Json] = [{"key": kind.resource, "operator": "Exists", "effect": kind.taint_effect}]
    if pool.compute_class is not None:
        # GKE adds it as well; pods of a plain Kubernetes would wait without it.
        key, value = compute_class.LABEL, pool.compute_class
        taken.append({"key": key, "operator": "Equal", "value": value, "effect": compute_class.TAINT_EFFECT})
    return taken


def probe(**times: int) -> JsonObject:
    """A probe of the server's ``/health``. ``times``: fields of the probe in seconds, or its thresholds."""
    check: JsonObject = {"path": "/health", "port": kserve.WORKLOAD_PORT, "scheme": "HTTP"}
    return {"httpGet": check, **times}


def variable(given: VariableSettings) -> JsonObject:
    """An environment variable of the settings: a value, or a reference to a key of a Secret."""
    if given.secret is None:
        return {"name": given.name, "value": given.value}
    return {"name": given.name, "valueFrom": {"secretKeyRef": {"name": given.secret, "key": given.key}}}


def security(model: ModelSettings) -> JsonObject:
    """The server's security context: root, as the public images need; GKE 1.28 and later require no more.

    KServe's preset drops every capability; those of the settings are added. A privileged container has all of them,
    and Kubernetes rejects it without ``allowPrivilegeEscalation``.
    """
    context: JsonObject = {
        "runAsNonRoot": False,
        "allowPrivilegeEscalation": model.privileged,
        "privileged": model.privileged,
    }
    if model.capabilities:
        context["capabilities"] = {"add": [*model.capabilities]}
    return context


def warm_up(model: ModelSettings) -> JsonObject:
    """A container that becomes ready once the server has answered a completion; only then is the pod ready.

    A probe of the server cannot do that: httpGet sends GET only, and KServe's merge can neither remove the preset's
    httpGet nor add an exec to it. A postStart hook could, but would hide the server's log until it ends.
    """
    return {
        "name": "warm-up",
        # The server's own image: it contains Python, and is already on the node.
        "image": model.image,
        "command": ["python3", "-c", WARM_UP.read_text(encoding="utf-8")],
        "args": [str(kserve.WORKLOAD_PORT), model.served_name, WARM_MARK],
        "readinessProbe": {"exec": {"command": ["test", "-e", WARM_MARK]}, "periodSeconds": 5},
        "resources": {"requests": {"cpu": "20m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
        "volumeMounts": [{"name": "warm-up", "mountPath": WARM_FOLDER}],
        # The image's user is root, and this container needs no privileges.
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": NOBODY,
            "runAsGroup": NOBODY,
            "readOnlyRootFilesystem": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
