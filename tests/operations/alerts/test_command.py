from __future__ import annotations

import json

import yaml

from tests.operations.conftest import Clone
from tests.operations.support import run


def test_the_alerts_of_a_stack_are_a_rules_file(clone: Clone) -> None:
    done = run("alerts", "--stack", "one", root=clone.root)
    assert done.returncode == 0, done.stderr
    (group,) = yaml.safe_load(done.stdout)["groups"]
    assert {"ModelHasNoReadyReplica", "TpuIdle"} <= {rule["alert"] for rule in group["rules"]}
    assert (group["interval"], group["rules"][0]["for"]) == ("60s", "120s")


def test_for_programs_they_are_the_policies_of_cloud_monitoring(clone: Clone) -> None:
    printed = json.loads(run("alerts", "--stack", "one", "--output", "json", root=clone.root).stdout)
    assert printed["stack"] == "one"
    assert all("conditionPrometheusQueryLanguage" in policy["conditions"][0] for policy in printed["policies"])


def test_for_a_trial_waits_ranges_and_the_interval_are_divided_and_never_multiplied(clone: Clone) -> None:
    done = run("alerts", "--stack", "one", "--faster", "30", root=clone.root)
    (group,) = yaml.safe_load(done.stdout)["groups"]
    assert (group["interval"], group["rules"][0]["for"]) == ("2s", "4s")
    assert "[2880s]" in group["rules"][0]["expr"]
    slower = run("alerts", "--stack", "one", "--faster", "0.5", root=clone.root)
    assert (slower.returncode, slower.stdout) == (2, "")


def test_a_stack_without_alerts_has_no_rules(clone: Clone) -> None:
    clone.add("  llmd-gke:monitoring: {alerts: false}\n")
    done = run("alerts", "--stack", "one", root=clone.root)
    assert yaml.safe_load(done.stdout)["groups"][0]["rules"] == []
