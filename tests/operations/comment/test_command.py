"""The command itself: both sides recorded by their own programs, judged by the pack, priced by today's catalogue."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from operations.comment.markdown import MARKER
from tests.operations.conftest import Clone
from tests.operations.support import ROOT, run

PROGRAM = """\
import pulumi
class Box(pulumi.ComponentResource):
    def __init__(self, name, opts=None):
        super().__init__("llmd-gke:test:Box", name, None, opts)
        inside = pulumi.ResourceOptions(parent=self)
        pulumi.CustomResource("gcp:test:Thing", f"{{name}}-one", {{"size": {size}}}, inside)
Box("{name}")
{more}
"""
GATEWAY = """\
import pulumi_kubernetes as k8s
k8s.apiextensions.CustomResource("gw", api_version="gateway.networking.k8s.io/v1", kind="Gateway",
    metadata={"name": "gw", "namespace": "x"}, spec={"gatewayClassName": "gke-l7-gxlb", "listeners": []})
"""


def program(clone: Clone, size: int = 1, name: str = "box", more: str = "") -> None:
    (clone.root / "__main__.py").write_text(PROGRAM.format(size=size, name=name, more=more))


@pytest.fixture
def project(clone: Clone) -> Clone:
    """A clone with a small program, and with the library that records it at every revision."""
    shutil.copytree(ROOT / "llmd_gke", clone.root / "llmd_gke", ignore=shutil.ignore_patterns("__pycache__", "laptop"))
    program(clone)
    clone.commit()
    return clone


def stacks(project: Clone, *arguments: str, status: int = 0) -> dict[str, dict]:  # pyright: ignore[reportMissingTypeArgument]
    done = run("comment", "--against", "HEAD", "--output", "json", *arguments, root=project.root)
    assert done.returncode == status, done.stderr
    return {one["stack"]: one for one in json.loads(done.stdout)["stacks"]}


def test_the_base_is_recorded_by_the_program_of_the_base(project: Clone) -> None:
    project.write("gone")
    project.commit()
    (project.root / "Pulumi.gone.yaml").unlink()
    program(project, size=2)
    project.write(replicas=2)
    project.write("two")
    stack_reports = stacks(project)
    assert [(one["op"], one["name"]) for one in stack_reports["one"]["changes"]] == [("update", "box-one")]
    totals = [stack_reports["one"][side]["totals"]["running"]["chips"] for side in ("before", "after")]
    assert totals == [12, 8]
    assert (stack_reports["two"]["status"], stack_reports["two"]["before"]) == ("new", None)
    removed = stack_reports["gone"]
    assert (removed["status"], removed["after"]) == ("removed", None)
    assert [(one["op"], one["name"]) for one in removed["changes"]] == [("delete", "box-one")]


def test_a_program_that_a_policy_refuses_is_status_1_and_said(project: Clone) -> None:
    program(project, more=GATEWAY)
    stack_reports = stacks(project, status=1)["one"]
    assert "gateway-class" in {one["policy"] for one in stack_reports["policies"] if one["mandatory"]}


def test_settings_that_are_refused_are_status_1_and_the_comment_says_why(project: Clone) -> None:
    project.write(replicas=30)
    done = run("comment", "--against", "HEAD", root=project.root)
    assert done.returncode == 1
    assert "the models on pool pool need 30 hosts" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_base_that_cannot_be_recorded_does_not_stop_the_comment(project: Clone) -> None:
    program(project, more="raise pulumi.RunError('of that time')")
    project.commit()
    program(project)
    done = run("comment", "--against", "HEAD", root=project.root)
    assert done.returncode == 0, done.stderr
    assert "base unknown" in done.stdout
    assert "of that time" in done.stdout


def test_a_plan_of_the_engine_takes_the_place_of_the_comparison(project: Clone, tmp_path: Path) -> None:
    program(project, size=2)
    project.write("two")
    plan = tmp_path / "plan.json"
    urn = "urn:pulumi:one::llmd-gke::llmd-gke:test:Box$gcp:test:Thing::box-one"
    steps = [{"op": "replace", "urn": urn, "diffReasons": ["size"], "replaceReasons": ["size"]}]
    plan.write_text(json.dumps({"steps": steps}))
    done = run("comment", "--against", "HEAD", "--stack", "one", "--preview", f"one={plan}", root=project.root)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(MARKER)
    assert "`two`" not in done.stdout
    assert "| **replaced** | `box-one` | `Thing` | `size` `1 → 2, replaces` |" in done.stdout
    assert "as planned by the engine" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--against", "nowhere"], "nowhere is not a commit"),
        (["--against", "HEAD", "--stack", "three"], "Stack three exists neither now nor at"),
        (["--against", "HEAD", "--preview", "one"], "allowed is STACK=FILE"),
        (["--against", "HEAD", "--preview", "one=none.json"], "none.json does not exist"),
    ],
)
def test_a_wrong_call_is_status_2_with_a_fix(project: Clone, arguments: list[str], problem: str) -> None:
    done = run("comment", *arguments, root=project.root)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr
    assert "Fix: " in done.stderr


GATED = "hf://meta-llama/Llama-3.1-8B-Instruct"


@pytest.fixture
def of_the_stand_ins(project: Clone) -> Clone:
    project.edit("my-project", "rehearsal")
    project.commit()
    return project


def test_a_stack_of_the_stand_ins_has_a_base_also_when_it_is_the_only_one(of_the_stand_ins: Clone) -> None:
    shown = run("comment", "--against", "HEAD", "--stack", "one", root=of_the_stand_ins.root).stdout
    assert "### No stack changes" in shown
    assert "base unknown" not in shown


def test_a_secret_that_is_missing_stops_google_cloud_and_not_the_stand_ins(of_the_stand_ins: Clone) -> None:
    clone = of_the_stand_ins
    clone.edit("hf://Qwen/Qwen3-4B", GATED)
    (clone.root / "Pulumi.two.yaml").write_text(clone.file.read_text().replace("rehearsal", "my-project"))
    done = run("comment", "--against", "HEAD", root=clone.root)
    assert done.returncode == 1
    assert "`pulumi up` would reject stack `two`" in done.stdout
    assert "pulumi config set --secret llmd-gke:hfToken" in done.stdout
    assert "RunError" not in done.stdout
