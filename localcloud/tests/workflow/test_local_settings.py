"""Settings that a local cloud cannot follow are changed in its copy of the stack file, and a note says so."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from localcloud.common.workdir import CloudKind, Workdir
from localcloud.workflow import local_settings
from localcloud.workflow.config import sync

SCALED = {"name": "qwen", "minReplicas": 2, "maxReplicas": 4, "scaling": {"waitingPerReplica": 3}}
NEW = {"minVersion": "1.37"}
"""Of such a cluster Google's own adapter reads the load."""


def test_what_the_load_balancer_requires_stays_and_a_note_says_that_it_is_not_enforced() -> None:
    door = {"callers": [{"name": "team-a"}], "access": {"ranges": ["192.0.2.0/24"]}}
    config: local_settings.Config = {"llmd-gke:frontDoor": door}
    (note,) = local_settings.unenforced_access(config, "laptop cloud")
    assert config == {"llmd-gke:frontDoor": door}
    assert "llmd-gke:frontDoor.access is not enforced" in note
    assert list(local_settings.unenforced_access({"llmd-gke:frontDoor": {"callers": []}}, "laptop cloud")) == []
    assert list(local_settings.unenforced_access({"llmd-gke:frontDoor": None}, "laptop cloud")) == []


@pytest.mark.parametrize("value", [None, "text", 3, {"a": 1}, [None, "x", 1]])
def test_values_of_another_type_are_left_to_the_check_of_settings(value: object) -> None:
    config: local_settings.Config = {"llmd-gke:frontDoor": value, "llmd-gke:budget": value}
    notes = [*local_settings.without_billing(config, "l"), *local_settings.unenforced_access(config, "l")]
    assert notes == []
    assert config == {"llmd-gke:frontDoor": value, "llmd-gke:budget": value}


@pytest.mark.parametrize("kind", ["rehearsal", "laptop"])
def test_the_copy_is_changed_the_committed_file_is_not_and_each_change_is_noted(
    kind: CloudKind, tmp_path: Path
) -> None:
    workdir = Workdir(tmp_path, tmp_path / "home", kind=kind)
    content = {
        "config": {
            "llmd-gke:budget": {"usdPerMonth": 100, "billingAccount": "A"},
            "llmd-gke:cluster": NEW,
            "llmd-gke:models": [SCALED],
        }
    }
    workdir.stack_file("one").write_text(yaml.safe_dump(content))
    notes: list[str] = []
    sync(workdir, "one", note=notes.append)
    config = yaml.safe_load(workdir.stack_copy("one").read_text())["config"]
    assert config["llmd-gke:budget"] == {"usdPerMonth": 100}
    assert config["llmd-gke:models"] == [SCALED], "GKE's own adapter of metrics has a stand-in"
    (note,) = notes
    assert note.startswith("llmd-gke:budget.billingAccount is ignored")
    assert yaml.safe_load(workdir.stack_file("one").read_text()) == content
