"""The expressions of panels, evaluated by promtool on recorded series, also of metrics that only Google has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from llmd_gke.catalog.metrics import POOL_OF_NODE, SIMULATED, Server
from llmd_gke.manifests.dashboard import panels
from llmd_gke.settings import StackSettings
from tests.llmd_gke.manifests.conftest import promtool_says

CLUSTER = 'cluster="llmd-dev",namespace="models"'
MODEL = f'{CLUSTER},model="qwen"'
LB = 'monitored_resource="internal_http_lb_rule",network_name="llmd-dev",region="us-east5"'
NODE = 'monitored_resource="k8s_node",cluster_name="llmd-dev"'
REQUESTS = f"loadbalancing_googleapis_com:https_internal_request_count{{{LB}"
OF_QWEN = {"namespace": "models", "model": "qwen"}
OF_POD = {**OF_QWEN, "pod": "qwen-kserve-x-7"}
MODELS = {"namespace": "models"}
HOST = {"node_name": "gke-tpu-1"}

Series = dict[str, str]
Samples = list[tuple[dict[str, str], float]]


def histogram(name: str, labels: str, half: float) -> Series:
    """Half of 60 observations a minute up to ``half``, the others up to twice as much."""
    bounds = {f"{half:g}": 30, f"{2 * half:g}": 60, "+Inf": 60}
    return {f'{name}_bucket{{{labels},le="{bound}"}}': f"0+{step}x60" for bound, step in bounds.items()}


def pod(name: str, number: int, value: int, more: str = "") -> Series:
    return {f'{name}{{{CLUSTER},pod="qwen-kserve-x-{number}"{more}}}': f"{value}x60"}


def waiting(number: int, reason: str) -> Series:
    main = ',container="main"'
    return {
        **pod("kube_pod_container_status_waiting_reason", number, 1, f'{main},reason="{reason}"'),
        **pod("kube_pod_container_status_ready", number, 0, main),
    }


RECORDED: Series = {
    f'inference_pool_ready_pods{{{MODEL},name="qwen-inference-pool",pod="epp"}}': "2x60",
    f'kube_deployment_spec_replicas{{{CLUSTER},deployment="qwen-kserve"}}': "2x60",
    f'kube_deployment_spec_replicas{{{CLUSTER},deployment="qwen-kserve-router-scheduler"}}': "1x60",
    f'inference_objective_request_total{{{MODEL},model_name="any"}}': "0+120x60",
    f'inference_objective_request_error_total{{{MODEL},error_code="ServiceUnavailable"}}': "0+6x60",
    f'{REQUESTS},response_code_class="200"}}': "0+120x60",
    f'{REQUESTS},response_code_class="500"}}': "0+6x60",
    REQUESTS.replace('"llmd-dev"', '"llmd-other"') + ',response_code_class="200"}': "0+999x60",
    **histogram("loadbalancing_googleapis_com:https_internal_total_latencies", LB, 100),
    **histogram("vllm:time_to_first_token_seconds", f'{MODEL},pod="qwen-kserve-x-7"', 0.5),
    **histogram("vllm:inter_token_latency_seconds", f'{MODEL},pod="qwen-kserve-x-7"', 0.05),
    **histogram("vllm:e2e_request_latency_seconds", f'{MODEL},pod="qwen-kserve-x-7"', 1),
    **histogram("inference_extension_scheduler_e2e_duration_seconds", f'{MODEL},pod="epp"', 0.01),
    f'vllm:num_requests_running{{{MODEL},pod="qwen-kserve-x-7"}}': "3x60",
    f'vllm:num_requests_waiting{{{MODEL},pod="qwen-kserve-x-7"}}': "1x60",
    f'vllm:kv_cache_usage_perc{{{MODEL},pod="qwen-kserve-x-7"}}': "0.6x60",
    f'vllm:prefix_cache_hits_total{{{MODEL},pod="qwen-kserve-x-7"}}': "0+30x60",
    f'vllm:prefix_cache_queries_total{{{MODEL},pod="qwen-kserve-x-7"}}': "0+60x60",
    f'vllm:prompt_tokens_total{{{MODEL},pod="qwen-kserve-x-7"}}': "0+600x60",
    f'vllm:generation_tokens_total{{{MODEL},pod="qwen-kserve-x-7"}}': "0+300x60",
    f'vllm:num_preemptions_total{{{MODEL},pod="qwen-kserve-x-7"}}': "0+6x60",
    **pod("kube_pod_status_unschedulable", 1, 1),
    **waiting(2, "ContainerCreating"),
    **waiting(3, "PodInitializing"),
    **waiting(4, "CrashLoopBackOff"),
    **waiting(5, "ErrImagePull"),
    **pod("kube_pod_container_status_ready", 6, 0, ',container="main"'),
    **pod("kube_pod_container_status_ready", 7, 1, ',container="main"'),
    f'kube_pod_container_status_ready{{{CLUSTER},pod="qwen-kserve-router-scheduler-y-1",container="main"}}': "0x60",
    f'kubernetes_io:node_cpu_allocatable_cores{{{NODE},{POOL_OF_NODE}="v6e1"}}': "44x60",
    f'kubernetes_io:node_cpu_allocatable_cores{{{NODE},{POOL_OF_NODE}="system"}}': "4x60",
    f'kubernetes_io:node_accelerator_tensorcore_utilization{{{NODE},node_name="gke-tpu-1"}}': "35x60",
    f'kubernetes_io:node_accelerator_memory_bandwidth_utilization{{{NODE},node_name="gke-tpu-1"}}': "20x60",
    f'kubernetes_io:node_accelerator_memory_used{{{NODE},node_name="gke-tpu-1",accelerator_id="0"}}': "16x60",
    f'kubernetes_io:node_accelerator_memory_total{{{NODE},node_name="gke-tpu-1",accelerator_id="0"}}': "32x60",
}

EXPECTED: dict[str, list[Samples]] = {
    "ready-replicas": [[(OF_QWEN, 2)], [({**MODELS, "deployment": "qwen-kserve"}, 2)]],
    "requests": [[(OF_QWEN, 2)]],
    "errors": [[({**OF_QWEN, "error_code": "ServiceUnavailable"}, 0.1)]],
    "gateway-answers": [[({"response_code_class": "200"}, 2), ({"response_code_class": "500"}, 0.1)]],
    "gateway-latency": [[({}, 100)], [({}, 190)]],
    "first-token": [[(OF_QWEN, 0.5)], [(OF_QWEN, 0.95)], [(OF_QWEN, 0.99)]],
    "inter-token": [[(OF_QWEN, 0.05)], [(OF_QWEN, 0.095)], [(OF_QWEN, 0.099)]],
    "request-duration": [[(OF_QWEN, 1)], [(OF_QWEN, 1.9)], [(OF_QWEN, 1.98)]],
    "picker-decision": [[(OF_QWEN, 0.019)], [(OF_QWEN, 0.0198)]],
    "requests-in-servers": [[(OF_POD, 3)], [(OF_POD, 1)]],
    "kv-cache": [[(OF_POD, 0.6)]],
    "prefix-hits": [[(OF_QWEN, 0.5)]],
    "tokens": [[(OF_QWEN, 10)], [(OF_QWEN, 5)]],
    "preemptions": [[(OF_POD, 0.1)]],
    "start-stages": [[(MODELS, 1)]] * 6,
    "nodes": [[({POOL_OF_NODE: "v6e1"}, 1), ({POOL_OF_NODE: "system"}, 1)]],
    "chip-utilization": [[(HOST, 35)]],
    "hbm-bandwidth": [[(HOST, 20)]],
    "hbm-used": [[(HOST, 0.5)]],
    "price": [[(OF_QWEN, 300)]],
}
"""What each query of each panel returns of :data:`RECORDED`."""


def evaluated(promtool: Path, folder: Path, series: Series, asked: list[tuple[str, Samples]]) -> str:
    """What promtool says of the expressions half an hour after the start; empty where all is as expected."""
    tests = [
        {
            "expr": expression,
            "eval_time": "30m",
            "exp_samples": [{"labels": _written(labels), "value": value} for labels, value in samples],
        }
        for expression, samples in asked
    ]
    given = [{"series": name, "values": values} for name, values in series.items()]
    test: dict[str, Any] = {"interval": "1m", "input_series": given, "promql_expr_test": tests}
    return promtool_says(promtool, folder, test)


def _written(labels: dict[str, str]) -> str:
    return "{" + ",".join(f'{key}="{value}"' for key, value in labels.items()) + "}"


def test_every_query_of_every_panel_returns_what_its_series_say(
    promtool: Path, stack: StackSettings, tmp_path: Path
) -> None:
    assert {panel.key: len(panel.queries) for panel in panels(stack)} == {
        key: len(one) for key, one in EXPECTED.items()
    }
    asked = [
        (query.promql, samples)
        for panel in panels(stack)
        for query, samples in zip(panel.queries, EXPECTED[panel.key], strict=True)
    ]
    assert evaluated(promtool, tmp_path, RECORDED, asked) == ""
    assert evaluated(promtool, tmp_path, RECORDED, [(asked[0][0], [(OF_QWEN, 3.0)])])


def test_the_simulators_names_of_the_prefix_cache_are_as_good_as_vllms(
    promtool: Path, stack: StackSettings, tmp_path: Path
) -> None:
    series = RECORDED
    for name in (Server.PREFIX_HITS, Server.PREFIX_QUERIES):
        series = {key.replace(f"{name}{{", f"{SIMULATED[name]}{{"): values for key, values in series.items()}
    (query,) = next(panel for panel in panels(stack) if panel.key == "prefix-hits").queries
    assert evaluated(promtool, tmp_path, series, [(query.promql, [(OF_QWEN, 0.5)])]) == ""


def test_hosts_with_gpus_are_shown_by_the_metrics_that_gke_collects_of_them(
    promtool: Path, make_stack: Callable[..., StackSettings], tmp_path: Path
) -> None:
    l4 = {"name": "v6e1", "machineType": "g2-standard-24", "maxNodes": 3}
    stack = make_stack(cluster={"name": "llmd-dev", "zone": "us-east4-a"}, pools=[l4])
    levels = {"GPU_UTIL": (70, 90), "MEM_COPY_UTIL": (20, 40), "FB_USED": (10, 14), "FB_FREE": (10, 6)}
    series = {
        f'DCGM_FI_DEV_{name}{{cluster="{cluster}",Hostname="gke-1",gpu="{gpu}"}}': f"{level}x60"
        for name, pair in levels.items()
        for gpu, level in enumerate(pair)
        for cluster in ("llmd-dev", "other")
    }
    expected = {"chip-utilization": 80, "hbm-bandwidth": 30, "hbm-used": 0.6}
    asked = [
        (query.promql, [({"Hostname": "gke-1"}, expected[panel.key])])
        for panel in panels(stack)
        if panel.key in expected
        for query in panel.queries
    ]
    assert len(asked) == len(expected)
    assert evaluated(promtool, tmp_path, series, asked) == ""
    assert stack.collected == ("DCGM",)


def test_without_requests_a_token_has_no_price(promtool: Path, stack: StackSettings, tmp_path: Path) -> None:
    quiet = {key: "5x60" if "generation_tokens" in key else values for key, values in RECORDED.items()}
    (query,) = next(panel for panel in panels(stack) if panel.key == "price").queries
    assert evaluated(promtool, tmp_path, quiet, [(query.promql, [])]) == ""


def test_panels_of_callers_count_each_request_once_and_cached_tokens_not_twice(
    promtool: Path, make_stack: Callable[..., StackSettings], tmp_path: Path
) -> None:
    stack = make_stack(gateway={"exposure": "internal"}, frontDoor={"callers": [{"name": "team-a"}]})
    job = f'cluster="{stack.cluster.name}",job="front-door",caller="team-a",gen_ai_request_model="qwen"'
    series = {
        f'gen_ai_client_token_usage_{name}{{{job},gen_ai_token_type="{kind}",pod="{pod}"}}': f"0+{step}x60"
        for pod in ("one", "two")
        for kind, tokens in (("input", 600), ("cached_input", 300), ("output", 60))
        for name, step in (("sum", tokens), ("count", 30))
    }
    who = {"caller": "team-a", "gen_ai_request_model": "qwen"}
    expected = {"caller-requests": 1.0, "caller-tokens": 22.0}
    asked: list[tuple[str, Samples]] = [
        (panel.queries[0].promql, [(who, expected[panel.key])]) for panel in panels(stack) if panel.key in expected
    ]
    assert len(asked) == 2
    assert evaluated(promtool, tmp_path, series, asked) == ""
