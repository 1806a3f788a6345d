"""Faults as series that Prometheus has scraped, and which alerts each of them fires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.llmd_gke.manifests.alerts import series as s

BEGIN = 20
"""Minute at which each fault begins: the times of :class:`Fault` count from it."""
ONE = {"namespace": "models", "model": "qwen"}
GONE = "stale"

Labels = Mapping[str, str]


@dataclass(frozen=True)
class Fault:
    """What differs from a healthy stack, and which alerts fire by it, with their labels.

    ``quiet``: the last minute at which none of them fires; ``fires``: the first minute at which all do.
    """

    changes: Mapping[str, str]
    quiet: int
    fires: int
    expected: Mapping[str, Labels] = field(default_factory=dict[str, Labels])
    missing: tuple[str, ...] = ()


def rises(name: str, then: float, before: float, pods: tuple[str, ...] = s.PODS) -> dict[str, str]:
    return {s.of_pod(name, pod): s.level(before, BEGIN, then) for pod in pods}


def failing(share: float) -> dict[str, str]:
    """The servers answer that share of requests with 5xx."""
    fine = {s.answers(pod, "2xx"): s.counter(60, BEGIN, 60 * (1 - share)) for pod in s.PODS}
    return fine | {s.answers(pod, "5xx"): s.counter(0, BEGIN, 60 * share) for pod in s.PODS}


FAULTS: Mapping[str, Fault] = {
    "the picker has no ready pod": Fault({s.READY: s.level(2, BEGIN, 0)}, 1, 2, {"ModelHasNoReadyReplica": ONE}),
    "one of two replicas is gone": Fault(
        {s.AVAILABLE: s.level(2, BEGIN, 1), s.READY: s.level(2, BEGIN, 1)},
        29,
        30,
        {"ModelLostReplicas": {"namespace": "models", "deployment": "qwen-kserve"}},
    ),
    "a pod cannot be scheduled": Fault(
        {s.UNSCHEDULABLE: f"_x{BEGIN} 1x{s.LENGTH}"},
        19,
        20,
        {"ModelPodUnschedulable": {"namespace": "models", "pod": "qwen-kserve-3"}},
    ),
    "an autoscaler wants all that it may have": Fault(
        {s.DESIRED: s.level(2, BEGIN, 4)},
        29,
        30,
        {"AutoscalerAtMaximum": {"namespace": "models", "horizontalpodautoscaler": "qwen-replicas"}},
    ),
    "an autoscaler no longer reads the load": Fault(
        {s.READS_LOAD: s.level(1, BEGIN, 0), s.READS_NOTHING: s.level(0, BEGIN, 1)},
        14,
        15,
        {"AutoscalerBlind": {"namespace": "models", "horizontalpodautoscaler": "qwen-replicas"}},
    ),
    "the picker is gone": Fault(
        {s.READY: f"2x{BEGIN - 1} {GONE}"}, 4, 5, {"PickerMetricsAbsent": {"cluster": "llmd", "namespace": "models"}}
    ),
    "servers fail every third request": Fault(
        failing(0.34), 10, 30, {"ModelErrorRatioFast": ONE, "ModelErrorRatioSlow": ONE}
    ),
    "servers fail every tenth request": Fault(failing(0.1), 20, 100, {"ModelErrorRatioSlow": ONE}),
    "the picker refuses every third request for want of pods": Fault(
        {s.errors("ServiceUnavailable"): s.counter(0, BEGIN, 60)},
        10,
        40,
        {"ModelErrorRatioFast": ONE, "ModelErrorRatioSlow": ONE},
    ),
    "the picker fails, and servers do not count by status": Fault(
        {s.errors("Internal"): s.counter(0, BEGIN, 60)},
        10,
        40,
        {"ModelErrorRatioFast": ONE, "ModelErrorRatioSlow": ONE},
        missing=tuple(s.answers(pod, "2xx") for pod in s.PODS),
    ),
    "the gateway answers every tenth request with 5xx": Fault(
        {s.gateway(200): s.counter(120, BEGIN, 108), s.gateway(500): s.counter(0, BEGIN, 12)},
        5,
        10,
        {"GatewayServerErrors": {}},
    ),
    "two of three places do not reach the endpoint": Fault(
        {s.passed(region): s.level(1, BEGIN, 0) for region in s.REGIONS[:2]},
        4,
        7,
        {"EndpointUnreachable": {"check_id": s.CHECK}},
    ),
    "the certificate ends in twenty days": Fault(
        {s.CERTIFICATE: s.level(22, BEGIN, 20)}, 59, 60, {"CertificateExpiring": {"check_id": s.CHECK}}
    ),
    "first tokens take more than five seconds": Fault(
        s.histogram("vllm:time_to_first_token_seconds", s.FIRST_TOKEN, {"5": 0.8, "2.5": 0.5, "1": 0, "0.5": 0}, BEGIN),
        9,
        20,
        {"FirstTokenSlow": ONE},
    ),
    "tokens take more than 200 ms": Fault(
        s.histogram("vllm:inter_token_latency_seconds", s.INTER_TOKEN, {"0.2": 0.8, "0.1": 0.1, "0.05": 0}, BEGIN),
        9,
        20,
        {"TokensSlow": ONE},
    ),
    "requests queue in each replica": Fault(rises("vllm:num_requests_waiting", 25, 1), 9, 10, {"ModelQueueing": ONE}),
    "the KV cache of one replica is full": Fault(
        rises("vllm:kv_cache_usage_perc", 0.97, 0.6, s.PODS[:1]), 9, 10, {"KvCacheFull": ONE}
    ),
    "one server preempts requests": Fault(
        {s.of_pod("vllm:num_preemptions_total", s.PODS[0]): s.counter(0, BEGIN, 30)},
        9,
        20,
        {"ServerPreempts": {**ONE, "pod": s.PODS[0]}},
    ),
    "a container restarts every ten minutes": Fault(
        {s.RESTARTS: f"1x{BEGIN} 2x9 3x9 4x9 5x{s.LENGTH}"},
        15,
        35,
        {"ServerRestarting": {"namespace_name": "models", "pod_name": s.PODS[0], "container_name": "main"}},
    ),
    "a container restarts where kube-state-metrics counts": Fault(
        {s.KUBE_RESTARTS: f"1x{BEGIN} 2x9 3x9 4x9 5x{s.LENGTH}"},
        15,
        35,
        {"ServerRestarting": {"namespace": "models", "pod": s.PODS[0], "container": "main"}},
        missing=(s.RESTARTS,),
    ),
    "a host computes nothing": Fault(
        {s.TENSORCORE: s.level(35, BEGIN, 0)}, 170, 182, {"TpuIdle": {"node_name": "gke-tpu-1"}}
    ),
    "the quota of the family is nearly used": Fault(
        {s.FAMILY_USED: s.level(8, BEGIN, 30)},
        14,
        15,
        {"QuotaAlmostUsed": {"tpu_family": "CT6E", "location": "us-east5"}},
    ),
    "the quota of spot chips is nearly used": Fault(
        {s.SPOT_USED: s.level(4, BEGIN, 15)},
        14,
        15,
        {"QuotaAlmostUsed": {"quota_metric": "compute.googleapis.com/preemptible_tpu_v6e", "location": "us-east5"}},
    ),
    "somebody changed a resource by hand": Fault(
        {s.DRIFT: f"0x{BEGIN - 1} 3 _x{s.LENGTH}"}, -1, 40, {"ConfigurationDrift": {}}
    ),
}

HARMLESS: Mapping[str, Fault] = {
    "clients send what is refused": Fault(
        {
            **{s.answers(pod, "4xx"): s.counter(0, BEGIN, 600) for pod in s.PODS},
            **{
                s.errors(code): s.counter(0, BEGIN, 600)
                for code in ("BadRequest", "Unauthorized", "Forbidden", "NotFound", "ResourceExhausted")
            },
            s.errors("ModelServerError"): s.counter(0, BEGIN, 600),
            s.gateway(400): s.counter(0, BEGIN, 1200),
        },
        5,
        40,
    ),
    "four requests of a quiet night, all failed": Fault(
        {
            **{s.answers(pod, "2xx"): s.level(1000) for pod in s.PODS},
            s.answers(s.PODS[0], "5xx"): f"0x{BEGIN} 1x2 2x2 3x2 4x{s.LENGTH}",
            s.ASKED: s.level(1000),
            s.gateway(200): s.level(1000),
            s.gateway(500): f"0x{BEGIN} 1x2 2x2 3x2 4x{s.LENGTH}",
        },
        10,
        60,
    ),
    "a first start, before the picker wrote and a check passed": Fault(
        {s.passed(region): s.level(0) for region in s.REGIONS}, -15, 40, missing=(s.READY,)
    ),
    "the first start of a model": Fault({s.READY: s.level(0)}, -15, 40),
    "one replica of the picker does not know the pods yet": Fault(
        {s.READY.replace("qwen-epp", "qwen-epp-new"): s.level(0)}, 0, 40
    ),
    "a burst that is over after five minutes": Fault(
        dict.fromkeys((s.of_pod("vllm:num_requests_waiting", pod) for pod in s.PODS), f"1x{BEGIN} 40x4 1x{s.LENGTH}"),
        3,
        15,
    ),
}
