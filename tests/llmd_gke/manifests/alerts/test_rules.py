"""The rules file, checked and run by promtool: each alert fires by its fault, at its real wait, and no other does."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from llmd_gke.manifests.alerts import Alert, alerts
from llmd_gke.manifests.alerts.rules_file import rules, rules_yaml
from llmd_gke.settings import StackSettings
from tests.llmd_gke.manifests.alerts import series as s
from tests.llmd_gke.manifests.alerts.conftest import AUTOSCALED, BASE, MODEL, MakeStack
from tests.llmd_gke.manifests.alerts.faults import BEGIN, FAULTS, HARMLESS, ONE, Fault, Labels

FOREIGN = {
    'cluster="llmd"': 'cluster="other"',
    'cluster_name="llmd"': 'cluster_name="other"',
    'network_name="llmd"': 'network_name="other"',
    'check_id="llmd-qwen': 'check_id="llmd-qwen-old-qwen',
}


@pytest.fixture
def every(make_stack: MakeStack) -> StackSettings:
    """A stack that has every alert and both kinds of quotas."""
    pool = BASE["llmd-gke:pools"][0]
    return make_stack(pools=[pool, {**pool, "name": "spot", "capacity": "spot"}], models=[AUTOSCALED])


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
        silent = [_asked(alert, BEGIN + fault.quiet, None) for alert in stack_alerts]
        loud = [_asked(alert, BEGIN + fault.fires, fault.expected.get(alert.name)) for alert in stack_alerts]
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
    return {"eval_time": f"{minute}m", "alertname": alert.name, "exp_alerts": [] if labels is None else [fired]}


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False, timeout=120)


def test_promtool_accepts_the_rules(promtool: Path, every: StackSettings, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(rules_yaml(alerts(every)))
    done = run(promtool, "check", "rules", "--lint=all", "--lint-fatal", str(file))
    assert (done.returncode, done.stderr) == (0, "")
    assert f"SUCCESS: {len(alerts(every))} rules found" in done.stdout


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
    check(Fault({**ASLEEP, s.WANTED: s.level(2, BEGIN, 0)}, 10, 100), stack)


def test_a_model_that_loses_its_servers_within_its_hours_fires_what_others_fire(
    check: Check, make_stack: MakeStack
) -> None:
    hpa = {"namespace": "models", "horizontalpodautoscaler": "qwen-replicas"}
    expected: Mapping[str, Labels] = {
        "ModelHasNoReadyReplica": ONE,
        "ModelLostReplicas": {"namespace": "models", "deployment": "qwen-kserve"},
        "AutoscalerBlind": hpa,
        "ModelErrorRatioFast": ONE,
        "ModelErrorRatioSlow": ONE,
    }
    stack = make_stack(models=[{**AUTOSCALED, "schedule": SCHEDULE}])
    check(Fault(ASLEEP, 1, 40, expected), stack)


def test_servers_that_answered_nothing_well_yet_fail_the_loosest_objective(check: Check, make_stack: MakeStack) -> None:
    stack = make_stack(models=[{**MODEL, "objectives": {"availability": 95}}])
    fail = {s.answers(pod, "5xx"): s.counter(0, BEGIN, 60) for pod in s.PODS}
    well = tuple(s.answers(pod, "2xx") for pod in s.PODS)
    both: Mapping[str, Labels] = {"ModelErrorRatioFast": ONE, "ModelErrorRatioSlow": ONE}
    check(Fault(fail, 0, 30, both, missing=well), stack)


def test_of_models_that_share_an_alert_it_names_the_one_that_fails(check: Check, make_stack: MakeStack) -> None:
    fail = FAULTS["servers fail every tenth request"]
    others = {key.replace('model="qwen"', 'model="other"'): value for key, value in s.healthy().items()}
    stack = make_stack(models=[MODEL, {**MODEL, "name": "other"}])
    check(Fault({**others, **fail.changes}, fail.quiet, fail.fires, fail.expected), stack)


def test_a_model_with_objectives_of_its_own_is_not_measured_against_the_default(
    check: Check, make_stack: MakeStack
) -> None:
    fail = FAULTS["servers fail every tenth request"]
    others = {key.replace('model="qwen"', 'model="other"'): value for key, value in s.healthy().items()}
    lenient = {**MODEL, "objectives": {"availability": 95}}
    check(
        Fault({**others, **fail.changes}, fail.quiet, fail.fires),
        make_stack(models=[lenient, {**MODEL, "name": "other"}]),
    )


def test_a_group_of_hosts_that_lacks_a_worker_is_a_lost_replica(check: Check, make_stack: MakeStack) -> None:
    pool = {"name": "many", "machineType": "ct6e-standard-4t", "topology": "4x4", "maxNodes": 4}
    stack = make_stack(pools=[pool], models=[{**MODEL, "pool": "many", "replicas": 1, "experimentalMultiHost": True}])
    group = f'{s.KUBE},statefulset="qwen-kserve-mn-1"'
    lost = {
        f"kube_statefulset_replicas{{{group}}}": s.level(3),
        f"kube_statefulset_status_replicas_ready{{{group}}}": s.level(3, BEGIN, 2),
    }
    expected = {"ModelLostReplicas": {"namespace": "models", "statefulset": "qwen-kserve-mn-1"}}
    check(Fault(lost, 29, 30, expected), stack)


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
    check(Fault(changes, 40, 190))
