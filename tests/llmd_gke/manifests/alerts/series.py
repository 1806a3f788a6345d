"""Series of a healthy stack, as promtool writes them: name and labels to values, one a minute."""

from __future__ import annotations

from collections.abc import Mapping

LENGTH = 240
"""Minutes that every series goes on."""

MODEL = 'cluster="llmd",namespace="models",model="qwen"'
KUBE = 'cluster="llmd",namespace="models"'
READY = f'inference_pool_ready_pods{{{MODEL},name="qwen-inference-pool",pod="qwen-epp"}}'
ASKED = f'inference_objective_request_total{{{MODEL},model_name="qwen"}}'
AVAILABLE = f'kube_deployment_status_replicas_available{{{KUBE},deployment="qwen-kserve"}}'
WANTED = f'kube_deployment_spec_replicas{{{KUBE},deployment="qwen-kserve"}}'
UNSCHEDULABLE = f'kube_pod_status_unschedulable{{{KUBE},pod="qwen-kserve-3"}}'
RESTARTS = (
    'kubernetes_io:container_restart_count{monitored_resource="k8s_container",cluster_name="llmd",'
    'namespace_name="models",pod_name="qwen-kserve-1",container_name="main"}'
)
KUBE_RESTARTS = f'kube_pod_container_status_restarts_total{{{KUBE},pod="qwen-kserve-1",container="main"}}'
CHECK = "llmd-qwen-f-UeocjSHdQ"
"""The ID that Google gives an uptime check: its name and eleven characters, of which one may be a hyphen."""
CERTIFICATE = (
    'monitoring_googleapis_com:uptime_check_time_until_ssl_cert_expires{monitored_resource="uptime_url",'
    f'check_id="{CHECK}"}}'
)
TENSORCORE = (
    'kubernetes_io:node_accelerator_tensorcore_utilization{monitored_resource="k8s_node",cluster_name="llmd",'
    'node_name="gke-tpu-1"}'
)
DRIFT = 'custom_googleapis_com:llmd_gke_drift{monitored_resource="global",cluster="llmd"}'
SPOT = (
    'monitored_resource="consumer_quota",location="us-east5",quota_metric="compute.googleapis.com/preemptible_tpu_v6e"'
)
FAMILY = 'monitored_resource="compute.googleapis.com/Location",location="us-east5",tpu_family="CT6E"'
SPOT_USED = f"serviceruntime_googleapis_com:quota_allocation_usage{{{SPOT}}}"
SPOT_LIMIT = f"serviceruntime_googleapis_com:quota_limit{{{SPOT}}}"
FAMILY_USED = f"compute_googleapis_com:quota_tpus_per_tpu_family_usage{{{FAMILY}}}"
FAMILY_LIMIT = f"compute_googleapis_com:quota_tpus_per_tpu_family_limit{{{FAMILY}}}"

HPA = f'{KUBE},horizontalpodautoscaler="qwen-replicas"'
DESIRED = f"kube_horizontalpodautoscaler_status_desired_replicas{{{HPA}}}"
MAXIMUM = f"kube_horizontalpodautoscaler_spec_max_replicas{{{HPA}}}"
READS_LOAD = f'kube_horizontalpodautoscaler_status_condition{{{HPA},condition="ScalingActive",status="true"}}'
READS_NOTHING = f'kube_horizontalpodautoscaler_status_condition{{{HPA},condition="ScalingActive",status="false"}}'

PODS = ("qwen-kserve-1", "qwen-kserve-2")
FIRST_TOKEN = ("0.5", "1", "2.5", "5", "7.5", "10", "+Inf")
INTER_TOKEN = ("0.05", "0.1", "0.2", "0.3", "0.5", "+Inf")


def of_pod(name: str, pod: str, more: str = "") -> str:
    return f'{name}{{{MODEL},pod="{pod}"{more}}}'


def answers(pod: str, status: str) -> str:
    """Requests that a server answered with a class of status."""
    return of_pod("http_requests_total", pod, f',handler="/v1/chat/completions",method="POST",status="{status}"')


def errors(code: str) -> str:
    """Errors that the picker counted."""
    return f'inference_objective_request_error_total{{{MODEL},model_name="qwen",error_code="{code}"}}'


def gateway(code: int) -> str:
    """Answers of the load balancer by class."""
    return (
        "loadbalancing_googleapis_com:https_external_regional_request_count{monitored_resource="
        f'"http_external_regional_lb_rule",network_name="llmd",region="us-east5",response_code_class="{code}"}}'
    )


def passed(checker_region: str) -> str:
    """An uptime check from one place."""
    return (
        'monitoring_googleapis_com:uptime_check_check_passed{monitored_resource="uptime_url",'
        f'check_id="{CHECK}",checker_location="{checker_region}"}}'
    )


REGIONS = ("usa-iowa", "eur-belgium", "apac-singapore")


def histogram(name: str, bounds: tuple[str, ...], share: Mapping[str, float], since: int = 0) -> dict[str, str]:
    """Buckets of both servers: 60 observations a minute, the given share of them up to each bound, else all.

    The share holds from minute ``since`` on; before, all observations are in the first bucket.
    """
    made: dict[str, str] = {}
    for pod in PODS:
        for bound in bounds:
            step = 60 * share.get(bound, 1)
            series = of_pod(f"{name}_bucket", pod, f',le="{bound}"')
            made[series] = steady(step) if since == 0 else counter(60, since, step)
    return made


def level(value: float, since: int = 0, then: float | None = None) -> str:
    """A gauge that changes once, at minute ``since``."""
    return f"{value:g}x{LENGTH}" if then is None else f"{value:g}x{since - 1} {then:g}x{LENGTH}"


def steady(step: float) -> str:
    """A counter."""
    return f"0+{step:g}x{LENGTH}"


def counter(step: float, since: int, then: float) -> str:
    """A counter whose rate changes at minute ``since``."""
    return f"0+{step:g}x{since} {step * since + then:g}+{then:g}x{LENGTH}"


def healthy() -> dict[str, str]:
    """Two replicas at moderate load."""
    return {
        READY: level(2),
        ASKED: steady(120),
        AVAILABLE: level(2),
        WANTED: level(2),
        DESIRED: level(2),
        MAXIMUM: level(4),
        READS_LOAD: level(1),
        READS_NOTHING: level(0),
        RESTARTS: level(1),
        KUBE_RESTARTS: level(1),
        CERTIFICATE: level(80),
        TENSORCORE: level(35),
        DRIFT: level(0),
        SPOT_USED: level(4),
        SPOT_LIMIT: level(16),
        FAMILY_USED: level(8),
        FAMILY_LIMIT: level(32),
        gateway(200): steady(120),
        **{passed(region): level(1) for region in REGIONS},
        **{answers(pod, "2xx"): steady(60) for pod in PODS},
        **{of_pod("vllm:num_requests_waiting", pod): level(1) for pod in PODS},
        **{of_pod("vllm:kv_cache_usage_perc", pod): level(0.6) for pod in PODS},
        **{of_pod("vllm:num_preemptions_total", pod): steady(0) for pod in PODS},
        **histogram("vllm:time_to_first_token_seconds", FIRST_TOKEN, {}),
        **histogram("vllm:inter_token_latency_seconds", INTER_TOKEN, {}),
    }
