from __future__ import annotations

import re

import pytest

from llmd_gke.manifests.alerts import alerts
from llmd_gke.settings import StackSettings
from tests.llmd_gke.manifests.alerts.conftest import AUTOSCALED, MODEL, MakeStack

EVERY = {
    "ModelHasNoReadyReplica",
    "ModelLostReplicas",
    "ModelPodUnschedulable",
    "ServerRestarting",
    "ModelQueueing",
    "KvCacheFull",
    "ServerPreempts",
    "PickerMetricsAbsent",
    "ModelErrorRatioFast",
    "ModelErrorRatioSlow",
    "FirstTokenSlow",
    "TokensSlow",
    "GatewayServerErrors",
    "EndpointUnreachable",
    "CertificateExpiring",
    "TpuIdle",
    "QuotaAlmostUsed",
    "ConfigurationDrift",
}


ABSENT = "PickerMetricsAbsent"


def names(stack: StackSettings) -> set[str]:
    return {alert.name for alert in alerts(stack)}


def test_an_external_stack_with_https_has_every_alert(stack: StackSettings) -> None:
    assert names(stack) == EVERY


def test_only_an_autoscaled_model_that_runs_has_alerts_on_its_autoscaler(make_stack: MakeStack) -> None:
    of_autoscalers = {"AutoscalerAtMaximum", "AutoscalerBlind"}
    assert names(make_stack(models=[AUTOSCALED])) == EVERY | of_autoscalers
    both = make_stack(models=[{**AUTOSCALED, "stopped": True}, {**MODEL, "name": "other"}])
    assert not names(both) & of_autoscalers


def test_only_a_model_with_objectives_of_its_own_has_alerts_on_them_of_its_own(make_stack: MakeStack) -> None:
    own = {**MODEL, "name": "own", "objectives": {"firstTokenSeconds": 1}}
    result = alerts(make_stack(models=[MODEL, {**MODEL, "name": "other"}, own]))
    on_objectives = {"ModelErrorRatioFast", "ModelErrorRatioSlow", "FirstTokenSlow", "TokensSlow"}
    of = {name: {alert.name for alert in result if alert.model == name} for name in ("qwen", "other", "own")}
    assert of == {"qwen": {ABSENT}, "other": {ABSENT}, "own": {ABSENT, *on_objectives}}
    shared = [alert for alert in result if alert.name in on_objectives and alert.model is None]
    assert {alert.name for alert in shared} == on_objectives
    assert all('model!="own"' in alert.expression for alert in shared)


def test_every_series_is_asked_of_this_stack_only(stack: StackSettings) -> None:
    selectors = [one for alert in alerts(stack) for one in re.findall(r"\{.*?\}", alert.expression)]
    ours = ('cluster="llmd"', 'cluster_name="llmd"', 'network_name="llmd"', 'check_id=~"(llmd-qwen)-', 'us-east5"')
    assert selectors
    for selector in selectors:
        assert any(one in selector for one in ours), selector


def test_what_clients_send_as_model_groups_nothing(stack: StackSettings) -> None:
    assert not [alert.name for alert in alerts(stack) if "model_name" in alert.expression]


def test_a_stack_without_alerts_has_none(make_stack: MakeStack) -> None:
    assert alerts(make_stack(monitoring={"alerts": False})) == ()


def test_without_scraping_only_what_others_measure_is_left(make_stack: MakeStack) -> None:
    result = alerts(make_stack(monitoring={"scrape": False}))
    assert {alert.origin for alert in result} == {"kube-state", "google"}
    assert not any("vllm:" in alert.expression or "inference_" in alert.expression for alert in result)


def test_a_stopped_model_has_no_alerts_of_its_own(make_stack: MakeStack) -> None:
    stack = make_stack(models=[{**MODEL, "stopped": True}])
    assert names(stack) == {"GatewayServerErrors", "TpuIdle", "QuotaAlmostUsed", "ConfigurationDrift"}
    both = alerts(make_stack(models=[MODEL, {**MODEL, "name": "old", "stopped": True}]))
    assert not any("old" in alert.expression for alert in both)


def test_an_internal_gateway_has_no_checks_from_outside(make_stack: MakeStack) -> None:
    stack = make_stack(gateway={"exposure": "internal"})
    assert not names(stack) & {"EndpointUnreachable", "CertificateExpiring"}
    errors = next(alert for alert in alerts(stack) if alert.name == "GatewayServerErrors")
    assert "https_internal_request_count" in errors.expression
    assert "external" not in errors.expression


def test_without_https_no_certificate_expires(make_stack: MakeStack) -> None:
    plain = {"exposure": "external", "allowPlainHttp": True, "open": True}
    assert names(make_stack(gateway=plain)) == EVERY - {"CertificateExpiring"}
    unchecked = make_stack(gateway=plain, monitoring={"uptimeCheck": False})
    assert names(unchecked) == EVERY - {"CertificateExpiring", "EndpointUnreachable"}


@pytest.mark.parametrize(("availability", "fast", "slow"), [(99, "0.144", "0.06"), (99.9, "0.0144", "0.006")])
def test_errors_are_measured_against_the_models_own_objective(
    make_stack: MakeStack, availability: float, fast: str, slow: str
) -> None:
    stack = make_stack(models=[{**MODEL, "objectives": {"availability": availability}}])
    expressions = {alert.name: alert.expression for alert in alerts(stack)}
    assert expressions["ModelErrorRatioFast"].count(f"> {fast} and") == 2
    assert expressions["ModelErrorRatioSlow"].count(f"> {slow} and") == 2


def test_latency_is_measured_against_the_models_own_objectives(make_stack: MakeStack) -> None:
    objectives = {"firstTokenSeconds": 0.75, "interTokenMilliseconds": 40}
    stack = make_stack(models=[{**MODEL, "objectives": objectives}])
    expressions = {alert.name: alert.expression for alert in alerts(stack)}
    assert expressions["FirstTokenSlow"].endswith("> 0.75")
    assert expressions["TokensSlow"].endswith("> 0.04")


def test_each_quota_of_the_pools_is_watched_once(make_stack: MakeStack) -> None:
    def pool(name: str, **more: object) -> dict[str, object]:
        machine = {"machineType": "ct6e-standard-1t", "topology": "1x1", "maxNodes": 9}
        return {"name": name, **machine, **more}

    stack = make_stack(pools=[pool("v6e1"), pool("more"), pool("spot", capacity="spot")])
    quota = next(alert for alert in alerts(stack) if alert.name == "QuotaAlmostUsed").expression
    assert quota.count('tpu_family="CT6E"') == 2
    assert quota.count('quota_metric="compute.googleapis.com/preemptible_tpu_v6e"') == 2


def test_a_faster_alert_keeps_its_threshold_and_divides_wait_and_ranges(stack: StackSettings) -> None:
    by_name = {alert.name: alert.faster(20) for alert in alerts(stack)}
    assert by_name["ModelQueueing"].seconds == 30
    fast = by_name["ModelErrorRatioFast"]
    assert (fast.seconds, set(re.findall(r"\[\w+\]", fast.expression))) == (6, {"[15s]", "[180s]"})
    assert "> 0.144" in fast.expression
    assert "[4320s]" in by_name["ModelHasNoReadyReplica"].expression
