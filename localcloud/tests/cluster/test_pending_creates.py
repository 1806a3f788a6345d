from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from llmd_common.problems import Problem
from localcloud.cluster import pending_creates
from localcloud.cluster.backend import LaptopCloud
from localcloud.common.workdir import Workdir
from localcloud.workflow.state import Pending


def find(workdir: Workdir, pending: Pending) -> Mapping[str, object] | None:
    return LaptopCloud(workdir).find_created(pending)


def creating(type_: str, inputs: Mapping[str, object]) -> Pending:
    return Pending(f"urn:pulumi:local::llmd-gke::{type_}::one", "creating", type_, inputs)


@pytest.fixture
def workdir(tmp_path: Path) -> Workdir:
    return Workdir(tmp_path, tmp_path / "home", "laptop")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What kubectl was asked; it answers with what stands in ``answers`` for the first word."""
    calls: list[str] = []

    def kubectl(_workdir: Workdir, *arguments: str) -> str:
        calls.append(" ".join(arguments))
        return ANSWERS.get(arguments[arguments.index("-l") + 1] if "-l" in arguments else arguments[2], "")

    monkeypatch.setattr(pending_creates, "_kubectl", kubectl)
    return calls


ANSWERS = {
    "created": json.dumps({"metadata": {"managedFields": [{"manager": "kubectl-create", "operation": "Update"}]}}),
    "owner=helm,name=done": "superseded deployed",
    "owner=helm,name=begun": "pending-install",
}


@pytest.mark.parametrize(
    ("type_", "inputs", "identity"),
    [
        ("kubernetes:core/v1:Namespace", {"metadata": {"name": "created"}}, {"id": "created"}),
        ("kubernetes:core/v1:Namespace", {"metadata": {"name": "absent"}}, None),
        ("kubernetes:apps/v1:Deployment", {"metadata": {"name": "created", "namespace": "m"}}, {"id": "m/created"}),
        (pending_creates.RELEASE, {"name": "done", "namespace": "kserve"}, {"id": "kserve/done"}),
    ],
)
@pytest.mark.usefixtures("asked")
def test_what_exists_is_taken_over_and_what_does_not_is_made_again(
    workdir: Workdir, type_: str, inputs: Mapping[str, object], identity: Mapping[str, object] | None
) -> None:
    assert find(workdir, creating(type_, inputs)) == identity


def test_a_release_that_was_only_begun_is_forgotten_so_that_it_can_be_installed(
    workdir: Workdir, asked: list[str]
) -> None:
    assert find(workdir, creating(pending_creates.RELEASE, {"name": "begun", "namespace": "kserve"})) is None
    assert asked[-1] == "delete secrets -n kserve -l owner=helm,name=begun"


def test_without_a_cluster_nothing_is_taken_for_absent(workdir: Workdir) -> None:
    with pytest.raises(Problem, match="is not running"):
        find(workdir, creating("kubernetes:core/v1:Namespace", {"metadata": {"name": "one"}}))
