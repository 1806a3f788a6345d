"""LLMInferenceService and the LLMInferenceServiceConfig with the TPU runtime.

Field semantics: kserve v0.20.0 ``pkg/apis/serving/v1alpha2``; preset that ours is merged over:
``config/llmisvcconfig/config-llm-template.yaml``. Lists are replaced whole, named list entries are merged.
"""

from __future__ import annotations

from llmd_gke.catalog import tpu
from llmd_gke.manifests import naming
from llmd_gke.manifests.types import Json, JsonObject
from llmd_gke.settings import ModelSettings, TpuPoolSettings

API_VERSION = "serving.kserve.io/v1alpha2"

PROBE_SECONDS = 10


def tensor_parallel(model: ModelSettings, pool: TpuPoolSettings) -> int:
    """Chips one server spans: those of the slice, unless settings say otherwise."""
    return model.tensor_parallel or pool.slice.chips


def server_arguments(model: ModelSettings, pool: TpuPoolSettings) -> list[str]:
    """Arguments after ``vllm serve /mnt/models``.

    Both names are served: the model's own, and the one that KServe advertises in ``status.addresses``.
    """
    arguments = [
        "--served-model-name",
        model.served_name,
        f"publishers/{model.namespace}/models/{model.served_name}",
        "--port",
        str(naming.WORKLOAD_PORT),
        "--tensor-parallel-size",
        str(tensor_parallel(model, pool)),
        "--enable-prefix-caching" if model.prefix_caching else "--no-enable-prefix-caching",
    ]
    optional = {
        "--max-model-len": model.max_model_len,
        "--max-num-seqs": model.max_num_seqs,
        "--max-num-batched-tokens": model.max_num_batched_tokens,
        "--dtype": None if model.dtype == "auto" else model.dtype,
    }
    for name, value in optional.items():
        if value is not None:
            arguments += [name, str(value)]
    return [*arguments, *model.extra_args]


def node_selector(pool: TpuPoolSettings) -> JsonObject:
    """All three labels: GKE refuses TPU pods without accelerator and topology, and a 2x4 is ambiguous without count."""
    return {
        tpu.ACCELERATOR_LABEL: pool.family.accelerator,
        tpu.TOPOLOGY_LABEL: pool.topology,
        tpu.COUNT_LABEL: str(pool.slice.machine.chips),
    }


def _probe(**times: int) -> JsonObject:
    check: JsonObject = {"path": "/health", "port": naming.WORKLOAD_PORT, "scheme": "HTTP"}
    return {"httpGet": check, **times}


def tpu_config(model: ModelSettings, pool: TpuPoolSettings) -> JsonObject:
    """The TPU runtime as an LLMInferenceServiceConfig in the model's namespace, used through ``baseRefs``."""
    machine = pool.slice.machine
    chips: JsonObject = {tpu.TPU_RESOURCE: str(machine.chips)}
    environment: list[Json] = [
        # The server compiles before it takes requests; without this the first ones would compile.
        {"name": "SKIP_JAX_PRECOMPILE", "value": "0"},
    ]
    container: JsonObject = {
        "name": "main",
        "image": model.image,
        # The preset's start script looks for CUDA devices; ours starts the server and nothing else.
        "command": ["vllm", "serve", "/mnt/models"],
        "args": list[Json](server_arguments(model, pool)),
        "env": environment,
        "resources": {
            "limits": chips,
            # Half of the host: the rest is for the node, the page cache and the pod's memory-backed /dev/shm.
            "requests": {**chips, "cpu": str(machine.vcpus // 4), "memory": f"{machine.memory_gb // 2}G"},
        },
        # The public TPU image runs as root; privileges beyond that are not needed on GKE 1.28 and later.
        "securityContext": {"runAsNonRoot": False, "allowPrivilegeEscalation": False, "privileged": False},
        "startupProbe": _probe(
            periodSeconds=PROBE_SECONDS,
            timeoutSeconds=5,
            failureThreshold=model.startup_minutes * 60 // PROBE_SECONDS,
        ),
        "readinessProbe": _probe(periodSeconds=PROBE_SECONDS, timeoutSeconds=5, failureThreshold=2),
        "livenessProbe": _probe(periodSeconds=PROBE_SECONDS, timeoutSeconds=5, failureThreshold=10),
    }
    template: JsonObject = {
        "nodeSelector": node_selector(pool),
        "tolerations": [{"key": tpu.TPU_RESOURCE, "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [container],
        "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": f"{machine.memory_gb // 8}G"}}],
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "LLMInferenceServiceConfig",
        "metadata": {"name": naming.tpu_config(model.name), "namespace": model.namespace},
        "spec": {"template": template},
    }


def scheduler_config(prefix_caching: bool) -> JsonObject:
    """The endpoint picker's plugins and weights: KServe 0.20's defaults for one workload, written out.

    Left out, KServe would keep whatever flag it finds in the running Deployment, also across upgrades
    (kserve v0.20.0 ``scheduler.go``). Without prefix caching in the server, prefix scores would mean nothing.
    """
    scorers: list[tuple[str, int]] = [("queue-scorer", 2), ("kv-cache-utilization-scorer", 2)]
    if prefix_caching:
        scorers += [("prefix-cache-scorer", 3), ("no-hit-lru-scorer", 2)]
    plugins: list[Json] = [{"type": "single-profile-handler"}, *[{"type": kind} for kind, _ in scorers]]
    weights: list[Json] = [{"pluginRef": kind, "weight": weight} for kind, weight in scorers]
    return {
        "apiVersion": "inference.networking.x-k8s.io/v1alpha1",
        "kind": "EndpointPickerConfig",
        "plugins": [*plugins, {"type": "max-score-picker"}],
        "schedulingProfiles": [{"name": "default", "plugins": [*weights, {"pluginRef": "max-score-picker"}]}],
    }


def service(model: ModelSettings, pool: TpuPoolSettings) -> JsonObject:
    """The LLMInferenceService.

    Route and Gateway are referred to: a route that KServe manages has timeouts on every rule, which GKE refuses
    (GWCER104), and points at the v1alpha2 InferencePool, which GKE does not have.
    """
    gateway: JsonObject = {"name": naming.GATEWAY_NAME, "namespace": naming.GATEWAY_NAMESPACE}
    annotations: JsonObject = {"pulumi.com/waitFor": "condition=Ready"}
    if model.needs_token:
        # KServe's storage initializer takes HF_TOKEN from the Secret named here (``credentials/hf/hf_secret.go``).
        annotations["serving.kserve.io/secretName"] = naming.TOKEN_SECRET
    return {
        "apiVersion": API_VERSION,
        "kind": "LLMInferenceService",
        "metadata": {
            "name": model.name,
            "namespace": model.namespace,
            "annotations": annotations,
        },
        "spec": {
            "model": {"uri": model.uri, "name": model.served_name},
            "replicas": model.replicas,
            "parallelism": {"tensor": tensor_parallel(model, pool)},
            "baseRefs": [{"name": naming.tpu_config(model.name)}],
            "router": {
                "gateway": {"refs": [gateway]},
                "route": {"http": {"refs": [{"name": naming.route(model.name)}]}},
                "scheduler": {"config": {"inline": scheduler_config(model.prefix_caching)}},
            },
        },
    }
