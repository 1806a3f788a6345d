"""The rules file, checked and run by promtool: each alert fires by its fault, at its real wait, and no other does."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

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


Check = Callable[[Mapping[str, Fault], StackSettings], None]


@pytest.fixture
def check(promtool: Path, tmp_path: Path) -> Check:
    """Lets promtool play faults, each alone, and compares all alerts of the stack at both times of each."""

    def play(faults: Mapping[str, Fault], stack: StackSettings) -> None:
        stack_alerts = alerts(stack)
        (tmp_path / "rules.yaml").write_text(rules_yaml(stack_alerts))
        tests = [_test(name, fault, stack_alerts) for name, fault in faults.items()]
        file = tmp_path / "test.yaml"
        file.write_text(json.dumps({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": tests}))
        done = run(promtool, "test", "rules", str(file))
        assert done.returncode == 0, re.sub(r"Annotations:\{[^}]*\}", "", done.stdout + done.stderr)

    return play


def _test(name: str, fault: Fault, stack_alerts: tuple[Alert, ...]) -> dict[str, Any]:
    assert fault.expected.keys() <= {alert.name for alert in stack_alerts}
    series = {key: value for key, value in s.healthy().items() if key not in fault.missing} | dict(fault.changes)
    silent = [_asked(alert, BEGIN + fault.quiet, None) for alert in stack_alerts]
    loud = [_asked(alert, BEGIN + fault.fires, fault.expected.get(alert.name)) for alert in stack_alerts]
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": key, "values": values} for key, values in series.items()],
        "alert_rule_test": [*silent, *loud],
    }


def _asked(alert: Alert, minute: int, labels: Labels | None) -> dict[str, Any]:
    rule = cast("Any", rules([alert]))["groups"][0]["rules"][0]
    fired = {"exp_labels": {**(labels or {}), **alert.labels}, "exp_annotations": rule["annotations"]}
    return {"eval_time": f"{minute}m", "alertname": alert.name, "exp_alerts": [] if labels is None else [fired]}


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # With fewer collections of garbage promtool needs half of the time.
    env = {**os.environ, "GOGC": "800"}
    return subprocess.run([str(program), *arguments], env=env, capture_output=True, text=True, check=False, timeout=120)


def test_promtool_accepts_the_rules(promtool: Path, every: StackSettings, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(rules_yaml(alerts(every)))
    done = run(promtool, "check", "rules", "--lint=all", "--lint-fatal", str(file))
    assert (done.returncode, done.stderr) == (0, "")
    assert f"SUCCESS: {len(alerts(every))} rules found" in done.stdout


def test_every_alert_has_a_fault_that_fires_it(every: StackSettings) -> None:
    fired = {name for fault in FAULTS.values() for name in fault.expected}
    assert fired == {alert.name for alert in alerts(every)}


def test_a_fault_fires_its_alerts_after_their_wait_and_no_others(check: Check, every: StackSettings) -> None:
    def moved(series: str) -> str:
        for ours, theirs in FOREIGN.items():
            series = series.replace(ours, theirs)
        return series

    faults = [fault for fault in FAULTS.values() if "QuotaAlmostUsed" not in fault.expected]
    others = {moved(series): values for fault in faults for series, values in fault.changes.items()}
    assert len(others) > 40
    assert not others.keys() & s.healthy().keys()
    check({**FAULTS, **HARMLESS, "faults of another stack in the project": Fault(others, 40, 190)}, every)


ASLEEP: Mapping[str, str] = {
    s.READY: s.level(2, BEGIN, 0),
    s.AVAILABLE: s.level(2, BEGIN, 0),
    s.READS_LOAD: s.level(1, BEGIN, 0),
    s.READS_NOTHING: s.level(0, BEGIN, 1),
    s.errors("ServiceUnavailable"): s.counter(0, BEGIN, 60),
}
"""The servers are gone, and the picker refuses who asks nevertheless."""


def test_a_model_outside_of_its_hours_fires_nothing_and_within_them_what_others_fire(
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
    schedule = {"timeZone": "UTC", "hours": ["Mon-Fri 08:00-18:00"]}
    outside = Fault({**ASLEEP, s.WANTED: s.level(2, BEGIN, 0)}, 10, 100)
    stack = make_stack(models=[{**AUTOSCALED, "schedule": schedule}])
    check({"outside": outside, "within": Fault(ASLEEP, 1, 40, expected)}, stack)


def test_servers_that_answered_nothing_well_yet_fail_the_loosest_objective(check: Check, make_stack: MakeStack) -> None:
    stack = make_stack(models=[{**MODEL, "objectives": {"availability": 95}}])
    fail = {s.answers(pod, "5xx"): s.counter(0, BEGIN, 60) for pod in s.PODS}
    well = tuple(s.answers(pod, "2xx") for pod in s.PODS)
    both: Mapping[str, Labels] = {"ModelErrorRatioFast": ONE, "ModelErrorRatioSlow": ONE}
    check({"all fail": Fault(fail, 0, 30, both, missing=well)}, stack)


def test_of_models_that_share_an_alert_it_names_the_one_that_fails_and_leaves_out_objectives_of_their_own(
    check: Check, make_stack: MakeStack
) -> None:
    fail = FAULTS["servers fail every tenth request"]
    others = {key.replace('model="qwen"', 'model="other"'): value for key, value in s.healthy().items()}
    fault = Fault({**others, **fail.changes}, fail.quiet, fail.fires, fail.expected)
    other = {**MODEL, "name": "other"}
    check({"shared": fault}, make_stack(models=[MODEL, other]))
    lenient = {**MODEL, "objectives": {"availability": 95}}
    check({"its own": Fault(fault.changes, fault.quiet, fault.fires)}, make_stack(models=[lenient, other]))


def test_a_group_of_hosts_that_lacks_a_worker_is_a_lost_replica(check: Check, make_stack: MakeStack) -> None:
    pool = {"name": "many", "machineType": "ct6e-standard-4t", "topology": "4x4", "maxNodes": 4}
    stack = make_stack(pools=[pool], models=[{**MODEL, "pool": "many", "replicas": 1, "experimentalMultiHost": True}])
    group = f'{s.KUBE},statefulset="qwen-kserve-mn-1"'
    lost = {
        f"kube_statefulset_replicas{{{group}}}": s.level(3),
        f"kube_statefulset_status_replicas_ready{{{group}}}": s.level(3, BEGIN, 2),
    }
    expected = {"ModelLostReplicas": {"namespace": "models", "statefulset": "qwen-kserve-mn-1"}}
    check({"a worker": Fault(lost, 29, 30, expected)}, stack)
