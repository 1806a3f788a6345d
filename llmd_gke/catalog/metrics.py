"""PromQL names of metrics, each written once: for alerts, for the dashboard, for commands.

The class of a name tells which component exports it, and thus where it exists: :class:`Server` and :class:`Picker`
wherever their pods are scraped, :class:`KubeState` on GKE and wherever kube-state-metrics runs, :class:`Google` on
Google Cloud only. A histogram has its base name; queries add ``_bucket``, ``_sum`` or ``_count``.
"""

from __future__ import annotations

from enum import StrEnum


class Server(StrEnum):
    """Metrics of vLLM. llm-d-inference-sim @v0.10.2 (``pkg/llm-d-inference-sim/metrics.go``) has them unless noted."""

    RUNNING = "vllm:num_requests_running"
    WAITING = "vllm:num_requests_waiting"
    KV_CACHE = "vllm:kv_cache_usage_perc"
    """0 to 1. Older pages call it ``gpu_cache_usage_perc``."""
    FIRST_TOKEN_SECONDS = "vllm:time_to_first_token_seconds"  # noqa: S105 - the name of a metric
    INTER_TOKEN_SECONDS = "vllm:inter_token_latency_seconds"  # noqa: S105 - the name of a metric
    REQUEST_SECONDS = "vllm:e2e_request_latency_seconds"
    PROMPT_TOKENS = "vllm:prompt_tokens_total"
    GENERATED_TOKENS = "vllm:generation_tokens_total"
    PREFIX_HITS = "vllm:prefix_cache_hits_total"
    """The simulator's name lacks ``_total``: see :data:`SIMULATED`."""
    PREFIX_QUERIES = "vllm:prefix_cache_queries_total"
    PREEMPTIONS = "vllm:num_preemptions_total"
    """Not in the simulator."""
    HTTP_REQUESTS = "http_requests_total"
    """By ``status`` (``2xx``, ``4xx``, ``5xx``), without health checks and ``/metrics``: made by
    prometheus-fastapi-instrumentator in vLLM's ``entrypoints/serve/instrumentator/metrics.py``. Not in the
    simulator."""


SIMULATED: dict[str, str] = {
    Server.PREFIX_HITS: "vllm:prefix_cache_hits",
    Server.PREFIX_QUERIES: "vllm:prefix_cache_queries",
}
"""Names that differ in llm-d-inference-sim 0.10.2."""


class Picker(StrEnum):
    """The endpoint picker: names of the inference extension 1.5.0, which llm-d-router 0.9 and 0.10 also export."""

    REQUESTS = "inference_objective_request_total"
    ERRORS = "inference_objective_request_error_total"
    """With the label ``error_code``."""
    READY = "inference_pool_ready_pods"
    QUEUE = "inference_pool_average_queue_size"
    KV_CACHE = "inference_pool_average_kv_cache_utilization"
    DECISION_SECONDS = "inference_extension_scheduler_e2e_duration_seconds"


NO_REPLICA = "ServiceUnavailable"
"""``error_code`` of :data:`Picker.ERRORS` for requests that found no server (``pkg/common/error/error.go``)."""


class AiGateway(StrEnum):
    """v1.0.0 (``internal/metrics``), with labels ``caller``, ``gen_ai_request_model``, ``gen_ai_token_type``."""

    TOKENS = "gen_ai_client_token_usage"
    """A histogram of tokens per request."""
    STREAM_BEGUN = "gen_ai_server_time_to_first_token_seconds"
    """A histogram with an observation for the first piece of each stream."""
    STREAM_ENDED = "gen_ai_server_time_per_output_token_seconds"
    """A histogram with an observation for the end of each stream of two tokens or more."""


class KubeState(StrEnum):
    """Kube state metrics that GKE collects for us (``MONITORED`` in ``components/cluster_hardening.py``).

    GKE collects a selection: https://cloud.google.com/kubernetes-engine/docs/how-to/kube-state-metrics
    """

    CONTAINER_READY = "kube_pod_container_status_ready"
    WAITING_REASON = "kube_pod_container_status_waiting_reason"
    UNSCHEDULABLE = "kube_pod_status_unschedulable"
    DEPLOYMENT_WANTED = "kube_deployment_spec_replicas"
    DEPLOYMENT_AVAILABLE = "kube_deployment_status_replicas_available"
    HPA_DESIRED = "kube_horizontalpodautoscaler_status_desired_replicas"
    HPA_MAXIMUM = "kube_horizontalpodautoscaler_spec_max_replicas"
    HPA_CONDITION = "kube_horizontalpodautoscaler_status_condition"
    """By ``condition`` (``ScalingActive``) and ``status`` (``true``, ``false``, ``unknown``)."""
    STATEFULSET_WANTED = "kube_statefulset_replicas"
    STATEFULSET_READY = "kube_statefulset_status_replicas_ready"
    RESTARTS = "kube_pod_container_status_restarts_total"
    """Not collected by GKE: :data:`Google.RESTARTS` is used there."""


class Google(StrEnum):
    """Metrics of Google Cloud by their PromQL names.

    Sources: https://cloud.google.com/load-balancing/docs/metrics,
    https://cloud.google.com/monitoring/api/metrics_kubernetes, and for the names
    https://cloud.google.com/monitoring/promql/promql-mapping.
    """

    EXTERNAL_REQUESTS = "loadbalancing_googleapis_com:https_external_regional_request_count"
    EXTERNAL_MILLISECONDS = "loadbalancing_googleapis_com:https_external_regional_total_latencies"
    INTERNAL_REQUESTS = "loadbalancing_googleapis_com:https_internal_request_count"
    INTERNAL_MILLISECONDS = "loadbalancing_googleapis_com:https_internal_total_latencies"
    NODE_CORES = "kubernetes_io:node_cpu_allocatable_cores"
    POOL_STATUS = "kubernetes_io:node_pool_status"
    """Only of TPU pools whose slices have several hosts; label ``status``."""
    RESTARTS = "kubernetes_io:container_restart_count"
    UPTIME_PASSED = "monitoring_googleapis_com:uptime_check_check_passed"
    UPTIME_CERTIFICATE_DAYS = "monitoring_googleapis_com:uptime_check_time_until_ssl_cert_expires"
    QUOTA_USAGE = "serviceruntime_googleapis_com:quota_allocation_usage"
    QUOTA_LIMIT = "serviceruntime_googleapis_com:quota_limit"
    """By ``quota_metric``. A quota with dimensions has metrics of its own: :func:`quota_metric`."""
    DRIFT = "custom_googleapis_com:llmd_gke_drift"
    """1 while resources differ from the stack's state: :data:`DRIFT_METRIC`."""


class Istio(StrEnum):
    """Metrics of Istio's proxies (https://istio.io/latest/docs/reference/config/metrics/)."""

    REQUESTS = "istio_requests_total"
    MILLISECONDS = "istio_request_duration_milliseconds"


EXTERNAL_LB = "http_external_regional_lb_rule"
INTERNAL_LB = "internal_http_lb_rule"
NODE = "k8s_node"
POOL_OF_NODE = "metadata_user_cloud_google_com_gke_nodepool"
"""Label with a node's pool in PromQL: the node's Kubernetes label is a metadata label of the monitored resource, and is
written so (https://cloud.google.com/stackdriver/docs/managed-prometheus/promql, "metadata labels")."""
NODE_POOL = "k8s_node_pool"
CONTAINER = "k8s_container"
UPTIME = "uptime_url"
QUOTA_RESOURCE = "consumer_quota"
LOCATION = "compute.googleapis.com/Location"
"""Values of ``monitored_resource``, which PromQL needs where a metric has several."""

DRIFT_METRIC, DRIFT_RESOURCE = "custom.googleapis.com/llmd_gke/drift", "global"
"""The custom metric that the nightly comparison writes (a gauge, 0 or 1, label ``cluster``), and its resource."""


def quota_metric(quota: str, kind: str) -> str:
    """The metric of a quota with dimensions, such as ``TPUS_PER_TPU_FAMILY``; ``kind``: ``usage`` or ``limit``.

    https://cloud.google.com/monitoring/api/metrics_gcp_c, ``compute.googleapis.com/quota/…``
    """
    return f"compute_googleapis_com:quota_{quota.lower()}_{kind}"
