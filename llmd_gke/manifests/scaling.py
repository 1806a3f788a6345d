"""Objects that scale a model's replicas with its load.

With GKE's managed adapter these are an AutoscalingMetric and a HorizontalPodAutoscaler; with KEDA a ScaledObject, from
which KEDA creates the same HorizontalPodAutoscaler. Both scale KServe's Deployment: an LLMInferenceService has no
``scale`` subresource, and KServe does not change the Deployment's replicas if ``spec.replicas`` is not set (kserve
``workload.go``, ``PreserveDeploymentReplicas``). Sources of the objects: :mod:`llmd_gke.catalog.scaling`.
"""

from __future__ import annotations

from collections.abc import Mapping

from llmd_gke.catalog import kserve, scaling
from llmd_gke.catalog.metrics import NO_REPLICA, Picker, Server
from llmd_gke.json_types import Json, JsonObject, kubernetes_object
from llmd_gke.manifests import naming
from llmd_gke.rules import schedule
from llmd_gke.settings import ModelSettings

SCALE_UP_WINDOW_SECONDS = 60
SCALE_DOWN_EVERY_SECONDS = 600
"""Shortest time between two removed replicas."""
WAIT_FOR: Mapping[scaling.Source, str] = {"gke": "condition=ScalingActive", "keda": "condition=Active"}
"""The condition that shows that servers answer. A HorizontalPodAutoscaler is active once it can read the load of a pod,
and a ScaledObject (``activationThreshold`` -1) once its query has a value. Both remain true while further replicas
start; the LLMInferenceService is not ``Ready`` then, for as long as a TPU host takes to start."""
ALWAYS_ACTIVE = "-1"
"""Every number of requests is above this threshold: a trigger becomes inactive only if there is no value."""
ACTIVE_WITH_REQUESTS = "0"
"""Of a model that may have no server: only requests keep servers."""


KEYS = ("load", "replicas")


def objects(model: ModelSettings, source: scaling.Source, cluster: str, project: str) -> dict[str, JsonObject]:
    """The objects of one model, by a key that is unique in it, in the order in which they are created.

    ``cluster`` and ``project`` determine where KEDA reads the model's metrics. Empty for a model with a fixed number of
    replicas, and for a stopped one, whose Deployment KServe deletes.
    """
    if not model.autoscaled or model.stopped:
        return {}
    if source == "gke":
        return {"load": _load(model), "replicas": _autoscaler(model)}
    return {"replicas": _scaled_object(model, cluster, project)}


def thresholds(model: ModelSettings) -> dict[Server, int]:
    """Requests per replica above which a replica is added, by metric."""
    pace = model.pace
    running = pace.running_per_replica
    sequences = model.max_num_seqs
    if running is None and sequences is not None and scaling.most_running(sequences):
        running = scaling.running_threshold(sequences)
    waiting = {Server.WAITING: pace.waiting_per_replica}
    return waiting if running is None else {**waiting, Server.RUNNING: running}


_GAUGES: Mapping[Server, str] = {Server.WAITING: "waiting", Server.RUNNING: "running"}


def pod_labels(model: ModelSettings, source: scaling.Source) -> JsonObject:
    """Labels that the model's pods need, so that the adapter can select them."""
    return {scaling.MODEL_LABEL: model.name} if model.autoscaled and source == "gke" else {}


def _target(model: ModelSettings) -> JsonObject:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "name": f"{model.name}{kserve.DEPLOYMENT_SUFFIX}"}


def behaviour(model: ModelSettings) -> JsonObject:
    """One replica at a time, no faster than a TPU host starts.

    Without the limit a queue of 40 with a threshold of 5 would add eight hosts at once: pods that are not ready yet
    count as 0 in the mean.
    """
    # The first servers of a day, or after an idle time, start together.
    together = model.serving_replicas if model.scales_to_zero else 1
    up: JsonObject = {"type": "Pods", "value": together, "periodSeconds": model.pace.scale_up_every_seconds}
    down: JsonObject = {"type": "Pods", "value": 1, "periodSeconds": SCALE_DOWN_EVERY_SECONDS}
    return {
        "scaleUp": {"stabilizationWindowSeconds": SCALE_UP_WINDOW_SECONDS, "policies": [up]},
        "scaleDown": {
            "stabilizationWindowSeconds": model.pace.scale_down_after_seconds,
            "selectPolicy": "Min",
            "policies": [down],
        },
    }


def _load(model: ModelSettings) -> JsonObject:
    gauges: list[Json] = [
        {"gauge": {"name": _GAUGES[metric], "prometheusMetricName": str(metric)}} for metric in thresholds(model)
    ]
    endpoint: JsonObject = {"port": kserve.WORKLOAD_PORT, "path": "/metrics"}
    labels: JsonObject = {scaling.MODEL_LABEL: model.name}
    pod: JsonObject = {"selector": {"matchLabels": labels}, "containers": [{"endpoint": endpoint, "metrics": gauges}]}
    spec: JsonObject = {"metrics": [{"pod": pod}]}
    return kubernetes_object(
        scaling.METRIC_VERSION, scaling.METRIC, naming.load(model.name), model.namespace, spec=spec
    )


def _autoscaler(model: ModelSettings) -> JsonObject:
    metrics: list[Json] = []
    for metric, limit in thresholds(model).items():
        name = f"{scaling.METRIC_GROUP}|{naming.load(model.name)}|{_GAUGES[metric]}"
        target: JsonObject = {"type": "AverageValue", "averageValue": str(limit)}
        metrics.append({"type": "Pods", "pods": {"metric": {"name": name}, "target": target}})
    return kubernetes_object(
        scaling.HPA_VERSION,
        scaling.HPA,
        naming.autoscaler(model.name),
        model.namespace,
        annotations={"pulumi.com/waitFor": WAIT_FOR["gke"]},
        spec={
            "scaleTargetRef": _target(model),
            "minReplicas": model.serving_replicas,
            "maxReplicas": model.most_replicas,
            "metrics": metrics,
            "behavior": behaviour(model),
        },
    )


def _scaled_object(model: ModelSettings, cluster: str, project: str) -> JsonObject:
    """The ScaledObject. It has no ``fallback``: with one, KEDA would report made-up values to the autoscaler when the
    load cannot be read. Without values the autoscaler keeps the current replicas, and reports that (``ScalingActive``).
    """
    selector = f'cluster="{cluster}",namespace="{model.namespace}",model="{model.name}"'
    active = ACTIVE_WITH_REQUESTS if model.scales_to_zero else ALWAYS_ACTIVE
    triggers: list[Json] = [
        _query(project, f"sum({metric}{{{selector}}})", limit, active) for metric, limit in thresholds(model).items()
    ]
    if (idle := model.idle_after_seconds) is not None:
        triggers.append(_query(project, recent_requests(selector, idle, model.serving_replicas), 1, active))
    triggers += _hours(model)
    pauses: JsonObject = {"cooldownPeriod": scaling.COOLDOWN_SECONDS} if model.scales_to_zero else {}
    if idle is not None:
        pauses["initialCooldownPeriod"] = idle  # the first server of a new model, which nobody has asked yet
    autoscaler: JsonObject = {"name": naming.autoscaler(model.name), "behavior": behaviour(model)}
    return kubernetes_object(
        scaling.KEDA_VERSION,
        scaling.SCALED_OBJECT,
        naming.autoscaler(model.name),
        model.namespace,
        # Without a server there is nothing that an update could wait for.
        annotations=None if model.scales_to_zero else {"pulumi.com/waitFor": WAIT_FOR["keda"]},
        spec={
            "scaleTargetRef": _target(model),
            "minReplicaCount": 0 if model.scales_to_zero else model.serving_replicas,
            "maxReplicaCount": model.most_replicas,
            "pollingInterval": scaling.POLLING_SECONDS,
            **pauses,
            # Without `restoreToOriginalReplicaCount: false`, its default: KEDA drops it when it adds its finalizer
            # (`omitempty` of apis/keda/v1alpha1/scaledobject_types.go), and each preview would add it again.
            "advanced": {"horizontalPodAutoscalerConfig": autoscaler},
            "triggers": triggers,
        },
    )


def _query(project: str, query: str, threshold: int, active: str) -> JsonObject:
    return {
        "type": "prometheus",
        "metricType": "AverageValue",
        "authenticationRef": {"name": scaling.AUTHENTICATION, "kind": scaling.TRIGGER_AUTHENTICATION},
        "metadata": {
            "serverAddress": scaling.prometheus(project),
            "query": query,
            "threshold": str(threshold),
            "activationThreshold": active,
            # The default treats "no data" as 0, and would remove replicas under load.
            "ignoreNullValues": "false",
        },
    }


def recent_requests(selector: str, seconds: int, replicas: int) -> str:
    """A query for ``replicas`` if the endpoint picker had a request within the last ``seconds``, and for 0 if not.

    The picker runs while its model has no server, and answers 503: such requests are among the errors only (the
    inference extension's ``pkg/epp/handlers/server.go`` @v1.5.0, ``RecordRequestErrCounter``). Other errors are no
    requests: anybody could start hosts with a malformed body. A counter appears with its first request, whose increase
    is 0: a new series counts as it is. Without a picker that is scraped there is no value, and nothing changes.
    """
    ago = f"{seconds}s"
    unserved = f'{selector},error_code="{NO_REPLICA}"'
    counters = f"{Picker.REQUESTS}{{{selector}}}", f"{Picker.ERRORS}{{{unserved}}}"
    recent = " or ".join(f"{one} unless {one} offset {ago} or increase({one}[{ago}])" for one in counters)
    scraped = f"count({Picker.READY}{{{selector}}})"
    return f"{replicas} * ((sum({recent}) or 0 * {scraped}) > bool 0) and {scraped}"


def _hours(model: ModelSettings) -> list[Json]:
    if model.schedule is None:
        return []
    triggers: list[Json] = []
    for hours in filter(None, map(schedule.read, model.schedule.hours)):
        start, end = hours.cron
        metadata: JsonObject = {
            "timezone": model.schedule.time_zone,
            "start": start,
            "end": end,
            "desiredReplicas": str(model.serving_replicas),
        }
        triggers.append({"type": scaling.CRON, "metadata": metadata})
    return triggers


def authentication() -> JsonObject:
    """Lets ScaledObjects of all namespaces read Google's Prometheus as KEDA's own identity."""
    spec: JsonObject = {"podIdentity": {"provider": "gcp"}}
    return kubernetes_object(scaling.KEDA_VERSION, scaling.TRIGGER_AUTHENTICATION, scaling.AUTHENTICATION, spec=spec)
