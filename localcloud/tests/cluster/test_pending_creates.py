from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from llmd_common.problems import Problem
from localcloud.cluster import pending_creates
from localcloud.common.workdir import Workdir
from localcloud.workflow import cloud_files
from localcloud.workflow.state import Pending


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
    "there": "deployment.apps/there",
    "applied": json.dumps(
        {
            "metadata": {
                "managedFields": [
                    {"manager": "kube-controller-manager", "operation": "Update"},
                    {"manager": "somebody", "operation": "Apply"},
                    {"manager": "pulumi-kubernetes-update", "operation": "Update"},
                    {"manager": "pulumi-kubernetes-4f2a9c1b", "operation": "Apply"},
                ]
            }
        }
    ),
    "owner=helm,name=done": "superseded deployed",
    "owner=helm,name=begun": "pending-install",
}


def test_the_name_under_which_an_object_was_applied_is_taken_over_with_it(workdir: Workdir, asked: list[str]) -> None:
    one = creating("kubernetes:apps/v1:Deployment", {"metadata": {"name": "applied", "namespace": "models"}})
    assert cloud_files.noted(workdir, one) == {"outputs": {"__fieldManager": "pulumi-kubernetes-4f2a9c1b"}}
    assert asked == ["get Deployment.v1.apps applied -n models --show-managed-fields -o json"]


@pytest.mark.parametrize(
    ("type_", "inputs", "identity"),
    [
        ("kubernetes:core/v1:Namespace", {"metadata": {"name": "there"}}, "there"),
        ("kubernetes:core/v1:Namespace", {"metadata": {"name": "absent"}}, None),
        ("kubernetes:apps/v1:Deployment", {"metadata": {"name": "there", "namespace": "models"}}, "models/there"),
        (pending_creates.RELEASE, {"name": "done", "namespace": "kserve"}, "kserve/done"),
    ],
)
@pytest.mark.usefixtures("asked")
def test_what_exists_is_taken_over_and_what_does_not_is_made_again(
    workdir: Workdir, type_: str, inputs: Mapping[str, object], identity: str | None
) -> None:
    assert cloud_files.find(workdir, creating(type_, inputs)) == identity


def test_a_release_that_was_only_begun_is_forgotten_so_that_it_can_be_installed(
    workdir: Workdir, asked: list[str]
) -> None:
    assert (
        cloud_files.find(workdir, creating(pending_creates.RELEASE, {"name": "begun", "namespace": "kserve"})) is None
    )
    assert asked[-1] == "delete secrets -n kserve -l owner=helm,name=begun"


def test_without_a_cluster_nothing_is_taken_for_absent(workdir: Workdir) -> None:
    with pytest.raises(Problem, match="is not running"):
        cloud_files.find(workdir, creating("kubernetes:core/v1:Namespace", {"metadata": {"name": "one"}}))
