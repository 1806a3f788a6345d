"""Settings that a local cloud cannot follow are changed in its copy of the stack file, and a note says so."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from localcloud.common.workdir import CloudKind, Workdir
from localcloud.workflow import local_settings
from localcloud.workflow.config import sync

SCALED = {"name": "qwen", "minReplicas": 2, "maxReplicas": 4, "scaling": {"waitingPerReplica": 3}}
FIXED = {"name": "small", "replicas": 3}


def test_a_billing_account_is_ignored_and_the_limits_of_the_budget_stay() -> None:
    config: local_settings.Config = {
        "llmd-gke:budget": {"usdPerMonth": 100, "billingAccount": "012345-6789AB-CDEF01"},
    }
    (note,) = local_settings.without_billing(config, "rehearsal")
    assert config == {"llmd-gke:budget": {"usdPerMonth": 100}}
    assert "llmd-gke:budget.billingAccount is ignored: the rehearsal has no Cloud Billing" in note


def test_an_autoscaled_model_gets_its_smallest_number_of_replicas_and_the_others_stay() -> None:
    config: local_settings.Config = {"llmd-gke:models": [dict(FIXED), dict(SCALED)]}
    (note,) = local_settings.with_fixed_replicas(config, "laptop cloud")
    assert config == {"llmd-gke:models": [FIXED, {"name": "qwen", "replicas": 2}]}
    assert "llmd-gke:models[1] (qwen) gets a fixed number of replicas, its minReplicas 2" in note


def test_a_schedule_is_ignored_where_nothing_follows_it_and_the_note_says_so() -> None:
    hours = {"timeZone": "UTC", "hours": ["Mon-Fri 08:00-18:00"]}
    config: local_settings.Config = {"llmd-gke:models": [{**SCALED, "schedule": hours}]}
    (note,) = local_settings.with_fixed_replicas(config, "laptop cloud")
    assert config == {"llmd-gke:models": [{"name": "qwen", "replicas": 2}]}
    assert "its minReplicas 2, and always runs: its schedule is ignored" in note


def test_a_number_of_replicas_and_bounds_at_once_are_left_to_the_check_of_settings_which_rejects_them() -> None:
    config: local_settings.Config = {"llmd-gke:models": [{**SCALED, "replicas": 1}]}
    assert list(local_settings.with_fixed_replicas(config, "laptop cloud")) == []
    assert config["llmd-gke:models"] == [{**SCALED, "replicas": 1}]


@pytest.mark.parametrize("value", [None, "text", 3, {"a": 1}, [None, "x", 1]])
def test_values_of_another_type_are_left_to_the_check_of_settings(value: object) -> None:
    config: local_settings.Config = {"llmd-gke:models": value, "llmd-gke:budget": value}
    notes = [*local_settings.without_billing(config, "l"), *local_settings.with_fixed_replicas(config, "l")]
    assert notes == []
    assert config == {"llmd-gke:models": value, "llmd-gke:budget": value}


@pytest.mark.parametrize(("kind", "replicas"), [("rehearsal", None), ("laptop", 2)])
def test_the_copy_is_changed_the_committed_file_is_not_and_each_change_is_noted(
    kind: CloudKind, replicas: int | None, tmp_path: Path
) -> None:
    workdir = Workdir(tmp_path, tmp_path / "home", kind=kind)
    content = {"config": {"llmd-gke:budget": {"billingAccount": "A"}, "llmd-gke:models": [SCALED]}}
    workdir.stack_file("one").write_text(yaml.safe_dump(content))
    notes: list[str] = []
    sync(workdir, "one", note=notes.append)
    config = yaml.safe_load(workdir.stack_copy("one").read_text())["config"]
    assert config["llmd-gke:budget"] == {}
    assert config["llmd-gke:models"][0].get("replicas") == replicas
    assert len(notes) == (1 if replicas is None else 2)
    assert yaml.safe_load(workdir.stack_file("one").read_text()) == content
