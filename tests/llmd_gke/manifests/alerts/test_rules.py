"""The rules file, checked and run by promtool: each alert fires by its fault, at its real wait, and no other does."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from llmd_gke.manifests.alerts import Alert, alerts
from llmd_gke.manifests.alerts.rules_file import rules, rules_yaml
from llmd_gke.problems import SetUpFailed
from llmd_gke.settings import StackSettings
from localcloud import binaries
from tests.llmd_gke.manifests.alerts import series as s
from tests.llmd_gke.manifests.alerts.conftest import AUTOSCALED, BASE, MODEL, MakeStack

BEGIN = 20
"""Minute at which each fault begins."""
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
    "the picker has no ready pod": Fault(
        {s.READY: s.level(2, BEGIN, 0)}, BEGIN + 1, BEGIN + 2, {"ModelHasNoReadyReplica": ONE}
    ),
    "one of two replicas is gone": Fault(
        {s.AVAILABLE: s.level(2, BEGIN, 1), s.READY: s.level(2, BEGIN, 1)},
        BEGIN + 29,
        BEGIN + 30,
        {"ModelLostReplicas": {"namespace": "models", "deployment": "qwen-kserve"}},
    ),
    "a pod cannot be scheduled": Fault(
        {s.UNSCHEDULABLE: f"_x{BEGIN} 1x{s.LENGTH}"},
        BEGIN + 19,
        BEGIN + 20,
        {"ModelPodUnschedulable": {"namespace": "models", "pod": "qwen-kserve-3"}},
    ),
    "an autoscaler wants all that it may have": Fault(
        {s.DESIRED: s.level(2, BEGIN, 4)},
        BEGIN + 29,
        BEGIN + 30,
        {"AutoscalerAtMaximum": {"namespace": "models", "horizontalpodautoscaler": "qwen-replicas"}},
    ),
    "an autoscaler no longer reads the load": Fault(
        {s.READS_LOAD: s.level(1, BEGIN, 0), s.READS_NOTHING: s.level(0, BEGIN, 1)},
        BEGIN + 14,
        BEGIN + 15,
        {"AutoscalerBlind": {"namespace": "models", "horizontalpodautoscaler": "qwen-replicas"}},
    ),
    "the picker is gone": Fault(
        {s.READY: f"2x{BEGIN - 1} {GONE}"},
        BEGIN + 4,
        BEGIN + 5,
        {"PickerMetricsAbsent": {"cluster": "llmd", "namespace": "models"}},
    ),
    "servers fail every third request": Fault(
        failing(0.34), BEGIN + 10, BEGIN + 30, {"ModelErrorRatioFast": {}, "ModelErrorRatioSlow": {}}
    ),
    "servers fail every tenth request": Fault(failing(0.1), BEGIN + 20, 2 * 60, {"ModelErrorRatioSlow": {}}),
    "the picker refuses every third request for want of pods": Fault(
        {s.errors("ServiceUnavailable"): s.counter(0, BEGIN, 60)},
        BEGIN + 10,
        BEGIN + 40,
        {"ModelErrorRatioFast": {}, "ModelErrorRatioSlow": {}},
    ),
    "the picker fails, and servers do not count by status": Fault(
        {s.errors("Internal"): s.counter(0, BEGIN, 60)},
        BEGIN + 10,
        BEGIN + 40,
        {"ModelErrorRatioFast": {}, "ModelErrorRatioSlow": {}},
        missing=tuple(s.answers(pod, "2xx") for pod in s.PODS),
    ),
    "the gateway answers every tenth request with 5xx": Fault(
        {s.gateway(200): s.counter(120, BEGIN, 108), s.gateway(500): s.counter(0, BEGIN, 12)},
        BEGIN + 5,
        BEGIN + 10,
        {"GatewayServerErrors": {}},
    ),
    "two of three places do not reach the endpoint": Fault(
        {s.passed(region): s.level(1, BEGIN, 0) for region in s.REGIONS[:2]},
        BEGIN + 4,
        BEGIN + 7,
        {"EndpointUnreachable": {"check_id": "llmd-qwen-Ab_12"}},
    ),
    "the certificate ends in twenty days": Fault(
        {s.CERTIFICATE: s.level(22, BEGIN, 20)},
        BEGIN + 59,
        BEGIN + 60,
        {"CertificateExpiring": {"check_id": "llmd-qwen-Ab_12"}},
    ),
    "first tokens take more than five seconds": Fault(
        s.histogram("vllm:time_to_first_token_seconds", s.FIRST_TOKEN, {"5": 0.8, "2.5": 0.5, "1": 0, "0.5": 0}, BEGIN),
        BEGIN + 9,
        BEGIN + 20,
        {"FirstTokenSlow": ONE},
    ),
    "tokens take more than 200 ms": Fault(
        s.histogram("vllm:inter_token_latency_seconds", s.INTER_TOKEN, {"0.2": 0.8, "0.1": 0.1, "0.05": 0}, BEGIN),
        BEGIN + 9,
        BEGIN + 20,
        {"TokensSlow": ONE},
    ),
    "requests queue in each replica": Fault(
        rises("vllm:num_requests_waiting", 25, 1), BEGIN + 9, BEGIN + 10, {"ModelQueueing": ONE}
    ),
    "the KV cache of one replica is full": Fault(
        rises("vllm:kv_cache_usage_perc", 0.97, 0.6, s.PODS[:1]), BEGIN + 9, BEGIN + 10, {"KvCacheFull": ONE}
    ),
    "one server preempts requests": Fault(
        {s.of_pod("vllm:num_preemptions_total", s.PODS[0]): s.counter(0, BEGIN, 30)},
        BEGIN + 9,
        BEGIN + 20,
        {"ServerPreempts": {**ONE, "pod": s.PODS[0]}},
    ),
    "a container restarts every ten minutes": Fault(
        {s.RESTARTS: f"1x{BEGIN} 2x9 3x9 4x9 5x{s.LENGTH}"},
        BEGIN + 15,
        BEGIN + 35,
        {"ServerRestarting": {"namespace_name": "models", "pod_name": s.PODS[0], "container_name": "main"}},
    ),
    "a container restarts where kube-state-metrics counts": Fault(
        {s.KUBE_RESTARTS: f"1x{BEGIN} 2x9 3x9 4x9 5x{s.LENGTH}"},
        BEGIN + 15,
        BEGIN + 35,
        {"ServerRestarting": {"namespace": "models", "pod": s.PODS[0], "container": "main"}},
        missing=(s.RESTARTS,),
    ),
    "a host computes nothing": Fault(
        {s.TENSORCORE: s.level(35, BEGIN, 0)}, BEGIN + 170, BEGIN + 182, {"TpuIdle": {"node_name": "gke-tpu-1"}}
    ),
    "the quota of the family is nearly used": Fault(
        {s.FAMILY_USED: s.level(8, BEGIN, 30)},
        BEGIN + 14,
        BEGIN + 15,
        {"QuotaAlmostUsed": {"tpu_family": "CT6E", "location": "us-east5"}},
    ),
    "the quota of spot chips is nearly used": Fault(
        {s.SPOT_USED: s.level(4, BEGIN, 15)},
        BEGIN + 14,
        BEGIN + 15,
        {
            "QuotaAlmostUsed": {
                "quota_metric": "compute.googleapis.com/preemptible_tpu_v6e",
                "location": "us-east5",
            }
        },
    ),
    "somebody changed a resource by hand": Fault(
        {s.DRIFT: f"0x{BEGIN - 1} 3 _x{s.LENGTH}"}, BEGIN - 1, BEGIN + 100, {"ConfigurationDrift": {}}
    ),
}

HARMLESS: Mapping[str, Fault] = {
    "nothing": Fault({}, 60, 3 * 60),
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
        BEGIN + 5,
        2 * 60,
    ),
    "four requests of a quiet night, all failed": Fault(
        {
            **{s.answers(pod, "2xx"): s.level(1000) for pod in s.PODS},
            s.answers(s.PODS[0], "5xx"): f"0x{BEGIN} 1x2 2x2 3x2 4x{s.LENGTH}",
            s.ASKED: s.level(1000),
            s.gateway(200): s.level(1000),
            s.gateway(500): f"0x{BEGIN} 1x2 2x2 3x2 4x{s.LENGTH}",
        },
        BEGIN + 10,
        BEGIN + 60,
    ),
    "the first start of a model": Fault({s.READY: s.level(0)}, 5, 60),
    "one replica of the picker does not know the pods yet": Fault(
        {s.READY.replace("qwen-epp", "qwen-epp-new"): s.level(0)}, BEGIN, 60
    ),
    "a burst that is over after five minutes": Fault(
        dict.fromkeys((s.of_pod("vllm:num_requests_waiting", pod) for pod in s.PODS), f"1x{BEGIN} 40x4 1x{s.LENGTH}"),
        BEGIN + 3,
        BEGIN + 15,
    ),
}

FOREIGN = {
    'cluster="llmd"': 'cluster="other"',
    'cluster_name="llmd"': 'cluster_name="other"',
    'network_name="llmd"': 'network_name="other"',
    'check_id="llmd-qwen': 'check_id="llmd-qwen-old-qwen',
}


@pytest.fixture(scope="session")
def promtool() -> Path:
    """The program, which ``make test`` builds."""
    try:
        return binaries.path("promtool")
    except SetUpFailed as problem:
        pytest.skip(str(problem))


@pytest.fixture
def every(make_stack: MakeStack) -> StackSettings:
    """A stack that has every alert and both kinds of quotas."""
    pool = BASE["llmd-gke:tpuPools"][0]
    return make_stack(tpuPools=[pool, {**pool, "name": "spot", "capacity": "spot"}], models=[AUTOSCALED])


Check = Callable[..., None]


@pytest.fixture
def check(promtool: Path, every: StackSettings, tmp_path: Path) -> Check:
    """Lets promtool play a fault, and compares all alerts of the stack (by default :func:`every`) at both times."""

    def play(fault: Fault, stack: StackSettings = every) -> None:
        stack_alerts = alerts(stack)
        (tmp_path / "rules.yaml").write_text(rules_yaml(stack_alerts))
        names = {alert.name for alert in stack_alerts}
        assert fault.expected.keys() <= names
        series = {key: value for key, value in s.healthy().items() if key not in fault.missing} | dict(fault.changes)
        silent = [_asked(alert, fault.quiet, None) for alert in stack_alerts]
        loud = [_asked(alert, fault.fires, fault.expected.get(alert.name)) for alert in stack_alerts]
        test = {
            "interval": "1m",
            "input_series": [{"series": key, "values": values} for key, values in series.items()],
            "alert_rule_test": [*silent, *loud],
        }
        file = tmp_path / "test.yaml"
        file.write_text(yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]}))
        done = run(promtool, "test", "rules", str(file))
        assert done.returncode == 0, re.sub(r"Annotations:\{[^}]*\}", "", done.stdout + done.stderr)

    return play


def _asked(alert: Alert, minute: int, labels: Labels | None) -> dict[str, Any]:
    rule = cast("Any", rules([alert]))["groups"][0]["rules"][0]
    fired = {"exp_labels": {**(labels or {}), **alert.labels}, "exp_annotations": rule["annotations"]}
    return {
        "eval_time": f"{minute}m",
        "alertname": alert.name,
        "exp_alerts": [] if labels is None else [fired],
    }


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False, timeout=120)


def test_promtool_accepts_the_rules(promtool: Path, every: StackSettings, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(rules_yaml(alerts(every)))
    done = run(promtool, "check", "rules", "--lint=all", "--lint-fatal", str(file))
    assert (done.returncode, done.stderr) == (0, "")
    assert f"SUCCESS: {len(alerts(every))} rules found" in done.stdout


def test_promtool_refuses_an_expression_that_does_not_parse(
    promtool: Path, every: StackSettings, tmp_path: Path
) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(rules_yaml(alerts(every)).replace("vllm:kv_cache_usage_perc{", "vllm:kv_cache_usage_perc{{"))
    assert run(promtool, "check", "rules", str(file)).returncode != 0


def test_every_alert_has_a_fault_that_fires_it(every: StackSettings) -> None:
    fired = {name for fault in FAULTS.values() for name in fault.expected}
    assert fired == {alert.name for alert in alerts(every)}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_fires_its_alerts_after_their_wait_and_no_others(fault: str, check: Check) -> None:
    check(FAULTS[fault])


ASLEEP: Mapping[str, str] = {
    s.READY: s.level(2, BEGIN, 0),
    s.AVAILABLE: s.level(2, BEGIN, 0),
    s.READS_LOAD: s.level(1, BEGIN, 0),
    s.READS_NOTHING: s.level(0, BEGIN, 1),
    s.errors("ServiceUnavailable"): s.counter(0, BEGIN, 60),
}
"""The servers are gone, and the picker refuses who asks nevertheless."""
SCHEDULE = {"timeZone": "UTC", "hours": ["Mon-Fri 08:00-18:00"]}


def test_a_model_outside_of_its_hours_fires_nothing(check: Check, make_stack: MakeStack) -> None:
    stack = make_stack(models=[{**AUTOSCALED, "schedule": SCHEDULE}])
    check(Fault({**ASLEEP, s.WANTED: s.level(2, BEGIN, 0)}, BEGIN + 10, 2 * 60), stack)


def test_a_model_that_loses_its_servers_within_its_hours_fires_what_others_fire(
    check: Check, make_stack: MakeStack
) -> None:
    hpa = {"namespace": "models", "horizontalpodautoscaler": "qwen-replicas"}
    expected: Mapping[str, Labels] = {
        "ModelHasNoReadyReplica": ONE,
        "ModelLostReplicas": {"namespace": "models", "deployment": "qwen-kserve"},
        "AutoscalerBlind": hpa,
        "ModelErrorRatioFast": {},
        "ModelErrorRatioSlow": {},
    }
    stack = make_stack(models=[{**AUTOSCALED, "schedule": SCHEDULE}])
    check(Fault(ASLEEP, BEGIN + 1, BEGIN + 40, expected), stack)


def test_servers_that_answered_nothing_well_yet_fail_the_loosest_objective(check: Check, make_stack: MakeStack) -> None:
    stack = make_stack(models=[{**MODEL, "objectives": {"availability": 95}}])
    fail = {s.answers(pod, "5xx"): s.counter(0, BEGIN, 60) for pod in s.PODS}
    well = tuple(s.answers(pod, "2xx") for pod in s.PODS)
    both: Mapping[str, Labels] = {"ModelErrorRatioFast": {}, "ModelErrorRatioSlow": {}}
    check(Fault(fail, BEGIN, BEGIN + 30, both, missing=well), stack)


def test_a_group_of_hosts_that_lacks_a_worker_is_a_lost_replica(check: Check, make_stack: MakeStack) -> None:
    pool = {"name": "many", "machineType": "ct6e-standard-4t", "topology": "4x4", "maxNodes": 4}
    stack = make_stack(
        tpuPools=[pool], models=[{**MODEL, "pool": "many", "replicas": 1, "experimentalMultiHost": True}]
    )
    group = f'{s.KUBE},statefulset="qwen-kserve-mn-1"'
    lost = {
        f"kube_statefulset_replicas{{{group}}}": s.level(3),
        f"kube_statefulset_status_replicas_ready{{{group}}}": s.level(3, BEGIN, 2),
    }
    expected = {"ModelLostReplicas": {"namespace": "models", "statefulset": "qwen-kserve-mn-1"}}
    check(Fault(lost, BEGIN + 29, BEGIN + 30, expected), stack)


@pytest.mark.parametrize("what", HARMLESS)
def test_what_is_no_fault_fires_nothing(what: str, check: Check) -> None:
    check(HARMLESS[what])


def test_the_faults_of_another_stack_in_the_project_fire_nothing(check: Check) -> None:
    def moved(series: str) -> str:
        for ours, theirs in FOREIGN.items():
            series = series.replace(ours, theirs)
        return series

    faults = [fault for fault in FAULTS.values() if "QuotaAlmostUsed" not in fault.expected]
    changes = {moved(series): values for fault in faults for series, values in fault.changes.items()}
    assert len(changes) > 40
    assert not changes.keys() & s.healthy().keys()
    check(Fault(changes, BEGIN + 40, BEGIN + 190))
