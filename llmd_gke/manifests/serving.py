"""LLMInferenceService and the LLMInferenceServiceConfig with the runtime for the pool's accelerator.

Field semantics: kserve ``pkg/apis/serving/v1alpha2``; preset over which ours is merged:
``config/llmisvcconfig/config-llm-template.yaml``. Lists are replaced whole, named list entries are merged.
"""

from __future__ import annotations

import hashlib
import json
from typing import cast

from llmd_gke.catalog import front_door, kserve
from llmd_gke.catalog.scaling import Source
from llmd_gke.gateways import istio
from llmd_gke.json_types import Json, JsonObject, kubernetes_object
from llmd_gke.manifests import egress, gateway, multi_host, naming, scaling, scheduler, tracing, weights
from llmd_gke.manifests.server_pod import (
    PROBE_SECONDS,
    grace_seconds,
    node_selector,
    probe,
    security,
    server_arguments,
    tensor_parallel,
    tolerations,
    variable,
    warm_up,
)
from llmd_gke.rules import environment as rules
from llmd_gke.rules.adapters import DOWNLOADED
from llmd_gke.settings import (
    EgressSettings,
    FrontDoorSettings,
    GatewaySettings,
    ModelSettings,
    PoolSettings,
    TracesSettings,
)

WAIT_FOR = {"ready": "condition=Ready", "workloads": "condition=WorkloadsReady"}
"""KServe's ``Ready`` also needs route and pool, whose status GKE writes and KServe compares field by field (kserve
``pkg/controller/v1alpha2/llmisvc/router_discovery.go``); ``WorkloadsReady`` depends on pods only."""

RUNTIME, OWN = "llmd-gke/runtime", "llmd-gke/service"
"""Annotations of a model's pods: digests of what configuration and service say about them (:func:`rollout`)."""

ROUTER_READY = "condition=RouterReady"
"""The part of ``Ready`` that is about Gateway, route, pool and endpoint picker."""


def runtime_config(
    model: ModelSettings,
    pool: PoolSettings,
    egress_settings: EgressSettings | None = None,
    *,
    account: str = "default",
) -> JsonObject:
    """The runtime as an LLMInferenceServiceConfig in the model's namespace, used through ``baseRefs``.

    ``egress_settings``: how downloads leave the cluster (default: directly). ``account``: the pods' service account.
    Pods have no token for the API server; they get credentials for buckets from GKE's metadata server.
    """
    machine = pool.slice.machine
    kind = pool.accelerator
    chips: JsonObject = {**kind.resources(pool.slice)}
    spans_hosts = pool.slice.multi_host
    serve = ["vllm", "serve", weights.MODEL_PATH]
    named = {one.name for one in model.env}
    defaults = {**rules.DEFAULTS, **(kind.adapter_environment if model.adapters else {})}
    environment: list[Json] = [
        *({"name": name, "value": value} for name, value in kind.environment.items()),
        {"name": kind.cache_variable, "value": weights.CACHE_PATH},
        *(
            [{"name": kind.kv_offload_blocks, "value": str(model.kv_offload_blocks)}]
            if kind.kv_offload_blocks and model.kv_offload_blocks
            else []
        ),
        *({"name": name, "value": value} for name, value in defaults.items() if name not in named),
        *(multi_host.environment(pool) if spans_hosts else ()),
        *(variable(one) for one in model.env),
    ]
    attached = (weights.weights(model), *weights.adapters(model), weights.cache(model))
    container: JsonObject = {
        "name": "main",
        "image": model.image,
        # The preset's start script looks for CUDA devices; ours starts the server and nothing else.
        "command": multi_host.command("leader", *serve) if spans_hosts else list[Json](serve),
        "args": list[Json](server_arguments(model, pool)),
        "env": environment,
        "resources": {
            "limits": chips,
            # A fraction of the host's memory: the rest is for the node, the page cache and the pod's memory-backed
            # /dev/shm.
            "requests": {
                **chips,
                "cpu": str(machine.vcpus // 4),
                "memory": f"{machine.memory_gb // 2 + (model.kv_offload_gb or 0)}G",
            },
        },
        "securityContext": security(model),
        "startupProbe": probe(
            periodSeconds=PROBE_SECONDS, timeoutSeconds=5, failureThreshold=model.startup_budget * 60 // PROBE_SECONDS
        ),
        "readinessProbe": probe(periodSeconds=PROBE_SECONDS, timeoutSeconds=5, failureThreshold=2),
        "livenessProbe": probe(periodSeconds=PROBE_SECONDS, timeoutSeconds=5, failureThreshold=10),
        "volumeMounts": [mount for part in attached for mount in part.mounts],
    }
    if kind.memory_port is not None:
        # KServe merges ports by their number: that of the preset stays.
        container["ports"] = [{"containerPort": kind.memory_port, "name": "accelerator"}]
    template: JsonObject = {
        "serviceAccountName": account,
        "automountServiceAccountToken": False,
        "nodeSelector": node_selector(pool),
        "tolerations": tolerations(pool),
        "containers": [container],
        "volumes": [
            {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": f"{machine.memory_gb // 8}G"}},
            *[volume for part in attached for volume in part.volumes],
        ],
        "terminationGracePeriodSeconds": grace_seconds(model),
    }
    if downloader := egress.init_containers(model, egress_settings or EgressSettings()):
        template["initContainers"] = downloader
    if model.private_image:
        template["imagePullSecrets"] = [{"name": naming.PULL_SECRET}]
    spec: JsonObject = {"template": template}
    if model.warm_up:
        # Only the pod that answers requests warms up.
        volume: JsonObject = {"name": "warm-up", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}
        spec["template"] = {
            **template,
            "containers": [container, warm_up(model)],
            "volumes": [*cast("list[Json]", template["volumes"]), volume],
        }
    if spans_hosts:
        spec["worker"] = multi_host.worker(template, container)
        spec["parallelism"] = multi_host.parallelism(pool)
    spec["annotations"] = {**weights.pod_annotations(model), RUNTIME: _digest(spec)}
    name = naming.runtime_config(model.name, pool.accelerator)
    return kubernetes_object(kserve.API_VERSION, kserve.CONFIG, name, model.namespace, spec=spec)


def _digest(spec: JsonObject) -> str:
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:8]


def rollout(config: JsonObject, service: JsonObject) -> JsonObject:
    """A patch of the Deployment that an update waits for: KServe's conditions stay True while new pods start, because
    the old ones are available (``propagateDeploymentStatus`` in ``workload_single_node.go``).

    It writes what KServe writes, so it is a conflict until KServe has changed the Deployment; then the provider waits
    for the rollout, and reports what a new pod said last (pulumi-kubernetes ``provider/pkg/await/deployment.go``). It
    would also wait for the replicas that an autoscaler adds, without end during a stock-out, and again in each ``up``
    after a refresh, which keeps that they are missing as an error of the resource: autoscaled models have none. KServe
    removes every annotation that would choose another condition.
    """
    digests: JsonObject = {}
    for part in (config, service):
        annotations = cast("JsonObject", cast("JsonObject", part["spec"])["annotations"])
        digests |= {key: annotations[key] for key in (RUNTIME, OWN) if key in annotations}
    metadata = cast("JsonObject", service["metadata"])
    name, namespace = kserve.deployment(str(metadata["name"])), str(metadata["namespace"])
    spec: JsonObject = {"template": {"metadata": {"annotations": digests}}}
    return kubernetes_object("apps/v1", "DeploymentPatch", name, namespace, spec=spec)


def _waiting(model: ModelSettings) -> JsonObject:
    """The annotations for what an update waits for. A service is not ``Ready`` while an autoscaler adds a replica,
    which takes as long as the start of a TPU host, or forever during a stock-out: the autoscaler's resource waits for
    these pods.
    """
    if not model.autoscaled:
        return {"pulumi.com/waitFor": WAIT_FOR[model.wait_for]}
    return {"pulumi.com/waitFor": ROUTER_READY} if model.wait_for == "ready" else {}


def service(
    model: ModelSettings,
    pool: PoolSettings,
    egress_settings: EgressSettings | None = None,
    traces: TracesSettings | None = None,
    door: FrontDoorSettings | None = None,
    *,
    source: Source = "keda",
    entrance: GatewaySettings | None = None,
) -> JsonObject:
    """The LLMInferenceService.

    It refers to our route and Gateway: a route that KServe manages has timeouts on every rule, which GKE rejects
    (GWCER104), and refers to the v1alpha2 InferencePool, which GKE does not have. ``egress_settings`` as in
    :func:`runtime_config`; ``traces``: where traces go (default: nowhere). For an autoscaled model the service has no
    number of replicas, so that KServe does not change that of the Deployment; ``source``: the component that reads its
    load. ``entrance``: the Gateway without a front door (default: the program's own).
    """
    at: Json = gateway.place(entrance or GatewaySettings())
    route = naming.route(model.name)
    if door is not None:
        at = {"name": front_door.NAME, "namespace": front_door.NAMESPACE}
        route = naming.door_route(model.name)
    # A stopped service is never Ready.
    annotations: JsonObject = {kserve.STOP: "true"} if model.stopped else _waiting(model)
    if model.needs_token and model.weights_cache is None:
        annotations[kserve.SECRET_NAME] = naming.TOKEN_SECRET
    spans_hosts = pool.slice.multi_host
    if spans_hosts:
        annotations |= multi_host.placement()
    downloaded: list[Json] = [
        {"name": one.name, "uri": one.uri} for one in model.adapters if one.uri.startswith(DOWNLOADED)
    ]
    lora: JsonObject = {"lora": {"adapters": downloaded}} if downloaded else {}
    spec: JsonObject = {
        "model": {"uri": model.weights_uri, "name": model.served_name, **lora},
        **({} if model.autoscaled else {"replicas": model.replicas}),
        "parallelism": multi_host.parallelism(pool) if spans_hosts else {"tensor": tensor_parallel(model, pool)},
        "baseRefs": [{"name": naming.runtime_config(model.name, pool.accelerator)}],
    }
    sidecar = istio.SIDECAR if entrance is not None and entrance.mesh is not None else {}
    if labels := {**scaling.pod_labels(model, source), **sidecar}:
        spec["labels"] = labels
    if spans_hosts:
        # Its presence makes KServe create a LeaderWorkerSet; its other fields are in the configuration.
        spec["worker"] = {"containers": [{"name": "main"}]}
    if traces is not None:
        spec["tracing"] = tracing.spec(traces)
    if weights.brings_own_weights(model):
        spec["storageInitializer"] = {"enabled": False}
    spec["annotations"] = {OWN: _digest({key: value for key, value in spec.items() if key != "replicas"})}
    if not model.stopped:
        # The picker's pod downloads the tokenizer.
        downloader = egress.init_containers(model, egress_settings or EgressSettings())
        spec["router"] = {
            "gateway": {"refs": [at]},
            "route": {"http": {"refs": [{"name": route}]}},
            "scheduler": {
                "config": {
                    "inline": scheduler.scheduler_config(model, flow_control=door is not None and door.has_priorities)
                },
                "template": {
                    "containers": scheduler.containers(model.scheduler, door),
                    # It must outlive the last request of the pods among which it distributes requests.
                    "terminationGracePeriodSeconds": grace_seconds(model),
                    **({"initContainers": downloader} if downloader else {}),
                },
            },
        }
    return kubernetes_object(
        kserve.API_VERSION, kserve.SERVICE, model.name, model.namespace, annotations=annotations, spec=spec
    )
