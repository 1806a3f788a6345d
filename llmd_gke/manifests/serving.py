"""LLMInferenceService and the LLMInferenceServiceConfig with the runtime for the pool's accelerator.

Field semantics: kserve ``pkg/apis/serving/v1alpha2``; preset that ours is merged over:
``config/llmisvcconfig/config-llm-template.yaml``. Lists are replaced whole, named list entries are merged.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

from llmd_gke.catalog import front_door, kserve, scheduling, versions
from llmd_gke.catalog.accelerators import ACCELERATORS, POOL_LABEL
from llmd_gke.manifests import egress, multi_host, naming, tracing, weights
from llmd_gke.manifests.types import Json, JsonObject
from llmd_gke.rules.environment import MAX_N, MAX_N_DEFAULT
from llmd_gke.rules.versions import version_of
from llmd_gke.settings import (
    AcceleratorPool,
    EgressSettings,
    FrontDoorSettings,
    ModelSettings,
    PluginSettings,
    TracesSettings,
    VariableSettings,
)
from llmd_gke.settings.sections import SchedulerSettings

PROBE_SECONDS = 10

PRE_STOP_SECONDS = 15
"""Seconds that KServe's presets sleep before a container gets SIGTERM, so that no new requests arrive by then."""

SHUTDOWN_TIMEOUT_SINCE = (0, 18)
"""First version of vLLM (major, minor) with ``--shutdown-timeout`` (vllm-project/vllm#36666)."""

NUMBERED_AS_VLLM = (
    "vllm/vllm-openai",
    *(versions.pinned_image(kind.image).home.partition("/")[2] for kind in ACCELERATORS),
)
"""Ends of the names of images whose tags are vLLM's versions, also of mirrors. Others count on their own:
``rhaiis/vllm-tpu-rhel9:3.2.5`` contains a vLLM of 2025, which would exit on an argument that it does not know."""

WAIT_FOR = {"ready": "condition=Ready", "workloads": "condition=WorkloadsReady"}
"""KServe's ``Ready`` also needs route and pool, whose statuses GKE writes and KServe compares field by field (kserve
``pkg/controller/v1alpha2/llmisvc/router_discovery.go``); ``WorkloadsReady`` is about pods alone."""

WARM_UP = Path(__file__).with_name("warm_up.py")
WARM_FOLDER = "/run/warm-up"
WARM_MARK = f"{WARM_FOLDER}/done"
NOBODY = 65534


def tensor_parallel(model: ModelSettings, pool: AcceleratorPool) -> int:
    """Chips that share each layer: those of the slice, over its pipeline stages, unless settings say otherwise."""
    return model.tensor_parallel or pool.slice.chips // (model.pipeline_parallel or 1)


def server_arguments(model: ModelSettings, pool: AcceleratorPool, door: FrontDoorSettings | None = None) -> list[str]:
    """Arguments after ``vllm serve /mnt/models``.

    Both names are served: the model's own, and the one that KServe advertises in ``status.addresses``. Where the
    front door counts tokens, every stream reports them.
    """
    arguments = [
        "--served-model-name",
        model.served_name,
        model.published_name,
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
        "--dtype": None if model.dtype == "auto" else model.dtype,
    }
    for name, value in optional.items():
        if value is not None:
            arguments += [name, str(value)]
    if door is not None and door.counts_tokens:
        arguments.append(front_door.FORCED_USAGE)
    if _drains(model.image):
        arguments += ["--shutdown-timeout", str(model.drain_seconds)]
    return [*arguments, *model.extra_args]


def _drains(image: str) -> bool:
    """Whether the server knows ``--shutdown-timeout``; an image that does not say so by name and tag is not given
    it.
    """
    name, _, tag = image.split("@")[0].rpartition(":")
    if not any(f"/{name}".endswith(f"/{vllm_image}") for vllm_image in NUMBERED_AS_VLLM):
        return False
    version = version_of(tag)
    return version is not None and version[:2] >= SHUTDOWN_TIMEOUT_SINCE


def _picker(scheduler: SchedulerSettings, door: FrontDoorSettings | None) -> list[Json]:
    """The fields of the endpoint picker's containers that differ from KServe's preset.

    The preset has its arguments in ``command``, so that ``args`` adds to them.
    """
    main: JsonObject = {"name": "main", "image": scheduler.image}
    if door is not None:
        main["args"] = [f"{front_door.PICKER_MESSAGE_FLAG}={front_door.PICKER_MESSAGE_BYTES}"]
    if scheduler.tokenizer_image is None:
        return [main]
    return [main, {"name": "tokenizer", "image": scheduler.tokenizer_image}]


def grace_seconds(model: ModelSettings) -> int:
    """Seconds that a pod has to terminate: KServe's pause, ``drainSeconds`` for running requests, and 15 to exit."""
    return PRE_STOP_SECONDS + model.drain_seconds + 15


def node_selector(pool: AcceleratorPool) -> JsonObject:
    """Selects the nodes of the model's pool, with the labels that GKE requires of pods with accelerators.

    GKE rejects TPU pods without accelerator and topology, and a 2x4 is ambiguous without count. The pool's name
    distinguishes two pools of one shape, such as a reserved and a spot one.
    """
    return {
        POOL_LABEL: pool.name,
        **pool.accelerator.node_labels(pool.family, pool.slice),
    }


def _probe(**times: int) -> JsonObject:
    check: JsonObject = {"path": "/health", "port": kserve.WORKLOAD_PORT, "scheme": "HTTP"}
    return {"httpGet": check, **times}


def _variable(given: VariableSettings) -> JsonObject:
    if given.secret is None:
        return {"name": given.name, "value": given.value}
    return {"name": given.name, "valueFrom": {"secretKeyRef": {"name": given.secret, "key": given.key}}}


def _security(model: ModelSettings) -> JsonObject:
    """The server's security context: root, as the public image needs; GKE 1.28 and later require no more for TPUs.

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


def runtime_config(
    model: ModelSettings,
    pool: AcceleratorPool,
    out: EgressSettings | None = None,
    *,
    account: str = "default",
    door: FrontDoorSettings | None = None,
) -> JsonObject:
    """The runtime as an LLMInferenceServiceConfig in the model's namespace, used through ``baseRefs``.

    ``out``: how downloads leave the cluster (default: directly). ``account``: the pods' service account. Pods have no
    token for the API server; they get credentials for buckets from GKE's metadata server. ``door``: the stack's front
    door (default: none).
    """
    machine = pool.slice.machine
    kind = pool.accelerator
    chips: JsonObject = {**kind.resources(pool.slice)}
    spans_hosts = pool.slice.multi_host
    serve = ["vllm", "serve", weights.MODEL_PATH]
    named = {one.name for one in model.env}
    environment: list[Json] = [
        *({"name": name, "value": value} for name, value in kind.environment.items()),
        {"name": kind.cache_variable, "value": weights.CACHE_PATH},
        *([] if MAX_N in named else [{"name": MAX_N, "value": str(MAX_N_DEFAULT)}]),
        *(multi_host.environment(pool) if spans_hosts else ()),
        *(_variable(one) for one in model.env),
    ]
    attached = (weights.weights(model), weights.cache(model))
    container: JsonObject = {
        "name": "main",
        "image": model.image,
        # The preset's start script looks for CUDA devices; ours starts the server and nothing else.
        "command": multi_host.command("leader", *serve) if spans_hosts else list[Json](serve),
        "args": list[Json](server_arguments(model, pool, door)),
        "env": environment,
        "resources": {
            "limits": chips,
            # Part of the host: the rest is for the node, the page cache and the pod's memory-backed /dev/shm.
            "requests": {**chips, "cpu": str(machine.vcpus // 4), "memory": f"{machine.memory_gb // 2}G"},
        },
        "securityContext": _security(model),
        "startupProbe": _probe(
            periodSeconds=PROBE_SECONDS,
            timeoutSeconds=5,
            failureThreshold=model.startup_budget * 60 // PROBE_SECONDS,
        ),
        "readinessProbe": _probe(periodSeconds=PROBE_SECONDS, timeoutSeconds=5, failureThreshold=2),
        "livenessProbe": _probe(periodSeconds=PROBE_SECONDS, timeoutSeconds=5, failureThreshold=10),
        "volumeMounts": [mount for part in attached for mount in part.mounts],
    }
    template: JsonObject = {
        "serviceAccountName": account,
        "automountServiceAccountToken": False,
        "nodeSelector": node_selector(pool),
        "tolerations": [{"key": kind.resource, "operator": "Exists", "effect": kind.taint_effect}],
        "containers": [container],
        "volumes": [
            {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": f"{machine.memory_gb // 8}G"}},
            *[volume for part in attached for volume in part.volumes],
        ],
        "terminationGracePeriodSeconds": grace_seconds(model),
    }
    if downloader := egress.init_containers(model, out or EgressSettings()):
        template["initContainers"] = downloader
    if model.private_image:
        template["imagePullSecrets"] = [{"name": naming.PULL_SECRET}]
    spec: JsonObject = {"template": template}
    if model.warm_up:
        # Only the pod that answers requests warms up.
        volume: JsonObject = {"name": "warm-up", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}
        spec["template"] = {
            **template,
            "containers": [container, _warm_up(model)],
            "volumes": [*cast("list[Json]", template["volumes"]), volume],
        }
    if spans_hosts:
        spec["worker"] = multi_host.worker(template, container)
        spec["parallelism"] = multi_host.parallelism(pool)
    if model.uses_buckets:
        spec["annotations"] = {weights.FUSE_ANNOTATION: "true"}
    return {
        "apiVersion": kserve.API_VERSION,
        "kind": kserve.CONFIG,
        "metadata": {"name": naming.runtime_config(model.name, pool.accelerator), "namespace": model.namespace},
        "spec": spec,
    }


def _warm_up(model: ModelSettings) -> JsonObject:
    """A container that becomes ready once the server has answered a completion; only then is the pod ready.

    A probe of the server cannot do that: httpGet sends GET only, and KServe's merge can neither remove the preset's
    httpGet nor add an exec to it. A postStart hook could, but would hide the server's log until it ends.
    """
    return {
        "name": "warm-up",
        # The server's own image: it has Python, and it is on the node already.
        "image": model.image,
        "command": ["python3", "-c", WARM_UP.read_text(encoding="utf-8")],
        "args": [str(kserve.WORKLOAD_PORT), model.served_name, WARM_MARK],
        "readinessProbe": {"exec": {"command": ["test", "-e", WARM_MARK]}, "periodSeconds": 5},
        "resources": {
            "requests": {"cpu": "20m", "memory": "64Mi"},
            "limits": {"memory": "256Mi"},
        },
        "volumeMounts": [{"name": "warm-up", "mountPath": WARM_FOLDER}],
        # The image's user is root, and this container needs nothing of that.
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


def scheduler_config(model: ModelSettings, *, flow_control: bool = False) -> JsonObject:
    """The endpoint picker's plugins and weights: one of upstream's profiles, or the list in the settings.

    If it were omitted, KServe would keep the flags of the running Deployment, also across upgrades (kserve
    ``scheduler.go``). Scorers of prefixes are left out if the server caches no prefixes. With ``flow_control`` requests
    wait in the picker while all replicas are saturated, by priority, and callers of one priority take turns
    (llm-d/llm-d-router v0.9.0 ``pkg/epp/flowcontrol``).
    """
    entries = _plugins(model)
    if not any(plugin.type.endswith(scheduling.PICKER_SUFFIX) for plugin in entries):
        entries = [*entries, PluginSettings(type=scheduling.DEFAULT_PICKER)]
    declared: list[Json] = [{"type": scheduling.HANDLER}]
    used: list[Json] = []
    for plugin in entries:
        declared.append(
            {"type": plugin.type, **({"parameters": cast("Json", plugin.parameters)} if plugin.parameters else {})}
        )
        used.append({"pluginRef": plugin.type, **({} if plugin.weight is None else {"weight": plugin.weight})})
    detector: JsonObject = {}
    if (limits := _limits(model)) is not None:
        declared.append({"type": scheduling.SATURATION_DETECTOR, "parameters": limits})
        # The older place of the two that llm-d-router 0.9 reads, and the only one of a picker of the inference
        # extension 1.5.
        detector["saturationDetector"] = {"pluginRef": scheduling.SATURATION_DETECTOR}
    return {
        "apiVersion": "inference.networking.x-k8s.io/v1alpha1",
        "kind": "EndpointPickerConfig",
        **({"featureGates": ["flowControl"]} if flow_control else {}),
        "plugins": declared,
        "schedulingProfiles": [{"name": "default", "plugins": used}],
        **detector,
    }


def _limits(model: ModelSettings) -> JsonObject | None:
    """The parameters of the saturation detector; ``None`` if the settings have none."""
    saturation = model.scheduler.saturation
    if saturation is None:
        return None
    stale = saturation.metrics_staleness_milliseconds
    limits: JsonObject = {
        "queueDepthThreshold": saturation.queue_depth_threshold,
        "kvCacheUtilThreshold": saturation.kv_cache_util_threshold,
        "metricsStalenessThreshold": None if stale is None else f"{stale}ms",
        "headroom": saturation.headroom,
    }
    return {key: value for key, value in limits.items() if value is not None}


def _plugins(model: ModelSettings) -> list[PluginSettings]:
    if model.scheduler.plugins:
        return list(model.scheduler.plugins)
    return [
        PluginSettings(type=kind, weight=weight)
        for kind, weight in scheduling.PROFILES[model.scheduler.profile]
        if model.prefix_caching or kind not in scheduling.NEEDS_PREFIX_CACHE
    ]


def service(
    model: ModelSettings,
    pool: AcceleratorPool,
    out: EgressSettings | None = None,
    traces: TracesSettings | None = None,
    door: FrontDoorSettings | None = None,
) -> JsonObject:
    """The LLMInferenceService.

    It refers to our route and Gateway: a route that KServe manages has timeouts on every rule, which GKE rejects
    (GWCER104), and refers to the v1alpha2 InferencePool, which GKE does not have. ``out`` as in
    :func:`runtime_config`; ``traces``: where traces go (default: nowhere).
    """
    gateway: JsonObject = {"name": naming.GATEWAY_NAME, "namespace": naming.GATEWAY_NAMESPACE}
    route = naming.route(model.name)
    if door is not None:
        gateway = {"name": front_door.NAME, "namespace": front_door.NAMESPACE}
        route = naming.door_route(model.name)
    # A stopped service is never Ready.
    annotations: JsonObject = (
        {kserve.STOP: "true"} if model.stopped else {"pulumi.com/waitFor": WAIT_FOR[model.wait_for]}
    )
    if model.needs_token:
        annotations[kserve.SECRET_NAME] = naming.TOKEN_SECRET
    spans_hosts = pool.slice.multi_host
    if spans_hosts:
        annotations |= multi_host.placement()
    spec: JsonObject = {
        "model": {"uri": model.uri, "name": model.served_name},
        "replicas": model.replicas,
        "parallelism": multi_host.parallelism(pool) if spans_hosts else {"tensor": tensor_parallel(model, pool)},
        "baseRefs": [{"name": naming.runtime_config(model.name, pool.accelerator)}],
    }
    if spans_hosts:
        # Its presence makes the service a LeaderWorkerSet; the rest of it is in the configuration.
        spec["worker"] = {"containers": [{"name": "main"}]}
    if traces is not None:
        spec["tracing"] = tracing.spec(traces)
    if weights.brings_own_weights(model):
        spec["storageInitializer"] = {"enabled": False}
    if not model.stopped:
        # The picker's pod downloads the tokenizer.
        downloader = egress.init_containers(model, out or EgressSettings())
        spec["router"] = {
            "gateway": {"refs": [gateway]},
            "route": {"http": {"refs": [{"name": route}]}},
            "scheduler": {
                "config": {"inline": scheduler_config(model, flow_control=door is not None and door.has_priorities)},
                "template": {
                    "containers": _picker(model.scheduler, door),
                    # It must outlive the last request of the pods it spreads requests over.
                    "terminationGracePeriodSeconds": grace_seconds(model),
                    **({"initContainers": downloader} if downloader else {}),
                },
            },
        }
    return {
        "apiVersion": kserve.API_VERSION,
        "kind": kserve.SERVICE,
        "metadata": {
            "name": model.name,
            "namespace": model.namespace,
            "annotations": annotations,
        },
        "spec": spec,
    }
