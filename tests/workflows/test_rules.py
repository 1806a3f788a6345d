"""What holds in every workflow: pins, permissions, concurrency, and that nothing foreign reaches a credential."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmd_gke.catalog import versions
from operations.comment.markdown import LIMIT, MARKER
from tests.workflows.conftest import FILES, ROOT, Workflow, read

USES = re.compile(r"uses: (\S+)@(\S+)(?: # (\S+))?$", re.M)
MAY_WRITE = {
    ("comment.yaml", "comment", "pull-requests"),
    ("preview.yaml", "preview", "id-token"),
    ("deploy.yaml", "up", "id-token"),
    ("drift.yaml", "drift", "id-token"),
}
"""Every permission to write that any job has."""

ENVIRONMENTS = {
    "preview.yaml": {"preview": "preview-${{ matrix.stack }}"},
    "deploy.yaml": {"up": "${{ matrix.stack }}"},
    "drift.yaml": {"drift": "drift-${{ matrix.stack }}"},
}
"""Every job that is trusted with something, and the environment whose rules and identity it has."""


def test_actions_are_pinned_by_full_commit_with_the_version_beside(workflow: Workflow) -> None:
    matches = USES.findall(workflow.text)
    assert len(matches) == workflow.text.count("uses:") > 0
    for action, commit, version in matches:
        assert re.fullmatch(r"[0-9a-f]{40}", commit), action
        assert re.fullmatch(r"v\d+\.\d+\.\d+", version), action


def test_one_action_has_one_pin_everywhere() -> None:
    pins = {matches for file in FILES for matches in USES.findall(file.read_text())}
    assert len({action for action, _, _ in pins}) == len(pins) > 5


def test_a_workflow_may_only_read_and_each_job_says_what_it_writes(workflow: Workflow) -> None:
    assert workflow.content["permissions"] in ({}, {"contents": "read"})
    for job, one in workflow.jobs.items():
        for scope, level in one.get("permissions", {}).items():
            assert level == "read" or (workflow.name, job, scope) in MAY_WRITE, f"{job}: {scope}: {level}"


def test_no_permission_to_write_is_listed_that_no_job_has() -> None:
    result = {
        (file.name, job, scope)
        for file in FILES
        for job, one in read(file.name).jobs.items()
        for scope, level in one.get("permissions", {}).items()
        if level == "write"
    }
    assert result == MAY_WRITE


def test_checkouts_leave_no_token_behind(workflow: Workflow) -> None:
    checkouts = [(job, step) for job, step in workflow.steps if "actions/checkout@" in str(step.get("uses"))]
    assert len(checkouts) == workflow.text.count("actions/checkout@")
    for job, step in checkouts:
        assert step["with"]["persist-credentials"] is False, job


def test_scripts_take_values_from_the_environment_never_from_expressions(workflow: Workflow) -> None:
    scripts = [step.get("run") or step.get("with", {}).get("script") or "" for _, step in workflow.steps]
    assert any(scripts)
    assert [script for script in scripts if "${{" in script] == []


def test_every_job_ends_some_day(workflow: Workflow) -> None:
    assert [job for job, one in workflow.jobs.items() if "timeout-minutes" not in one] == []


def test_credentials_stay_away_from_what_forks_can_start() -> None:
    assert FILES
    for file in FILES:
        workflow = read(file.name)
        assert "pull_request_target" not in workflow.on
        for job, one in workflow.jobs.items():
            if trusted(one) and "pull_request" in workflow.on:
                assert "github.event.pull_request.head.repo.full_name == github.repository" in one["if"], job
            if trusted(one):
                assert "vars.STACKS != ''" in one["if"], job


def test_the_workflow_that_comments_runs_nothing_of_the_pull_request() -> None:
    comment = read("comment.yaml")
    assert list(comment.on) == ["workflow_run"]
    assert comment.on["workflow_run"]["workflows"] == [read("checks.yaml").content["name"]]
    assert [str(step.get("uses", "")).split("@")[0] for _, step in comment.steps] == [
        "actions/checkout",
        "actions/download-artifact",
        "actions/setup-python",
        "",
        "actions/github-script",
    ]
    checkout, artifact, _, render, post = [step for _, step in comment.steps]
    assert checkout["with"] == {"persist-credentials": False}  # the default branch
    assert artifact["with"]["path"] == "${{ runner.temp }}/comment"  # outside of the checkout
    assert '--render "$DATA"' in render["run"]
    assert render["env"]["FORK"] == "${{ github.event.workflow_run.head_repository.full_name != github.repository }}"
    assert render["env"]["TEXT"] == post["env"]["TEXT"] != "${{ runner.temp }}/comment/comment.md"
    assert all("github.token" not in str(step) for step in (checkout, render))


def test_whatever_touches_a_stack_has_a_concurrency_group_with_its_name() -> None:
    groups: dict[str, str] = {}
    for name, job in (("preview.yaml", "preview"), ("deploy.yaml", "up"), ("drift.yaml", "drift")):
        concurrency = read(name).jobs[job]["concurrency"]
        assert "${{ matrix.stack }}" in concurrency["group"]
        groups[job] = concurrency["group"]
        if job != "preview":
            assert concurrency["cancel-in-progress"] is False
    assert groups["up"] == "stack-${{ matrix.stack }}"
    assert len(set(groups.values())) == 3  # a waiting deployment must not be dropped for a preview


def test_only_main_is_deployed_and_each_stack_has_its_own_environment() -> None:
    deploy = read("deploy.yaml")
    assert deploy.on["push"] == {"branches": ["main"]}
    assert deploy.jobs["up"]["environment"] == "${{ matrix.stack }}"
    assert "github.ref == 'refs/heads/main'" in deploy.jobs["up"]["if"]


def trusted(job: dict[str, Any]) -> bool:
    """Whether a job gets an identity on Google Cloud or a secret."""
    return job.get("permissions", {}).get("id-token") == "write" or "{{ secrets." in yaml.safe_dump(job)


def test_every_job_with_an_identity_or_a_secret_has_an_environment_of_its_stack(workflow: Workflow) -> None:
    result = {job: one.get("environment") for job, one in workflow.jobs.items() if trusted(one)}
    assert result == ENVIRONMENTS.get(workflow.name, {})


def test_only_deploy_has_a_secret_and_previews_use_a_copy_without_any() -> None:
    assert [file.name for file in FILES if "{{ secrets." in file.read_text()] == ["deploy.yaml"]
    for name in ("preview.yaml", "drift.yaml"):
        scripts = [step["run"] for _, step in read(name).steps if "pulumi preview" in step.get("run", "")]
        assert len(scripts) == 1
        lines = [line.strip() for line in scripts[0].splitlines()]
        made = next(at for at, line in enumerate(lines) if ".venv/bin/llmd-gke preview-copy" in line)
        taken = lines.index('. "$COPY/environment"')
        run = next(at for at, line in enumerate(lines) if line.startswith("pulumi preview"))
        assert lines[made - 1] == 'pulumi stack export --stack "$STACK" --file state.json'
        assert made < taken < run


def test_the_nightly_comparison_runs_for_main_alone() -> None:
    drift = read("drift.yaml")
    assert "github.ref == 'refs/heads/main'" in drift.jobs["drift"]["if"]
    checkout = next(step for _, step in drift.steps if str(step.get("uses")).startswith("actions/checkout@"))
    assert checkout["with"]["ref"] == "main"


@pytest.mark.parametrize("name", ["preview.yaml", "deploy.yaml"])
def test_what_runs_the_engine_against_google_runs_the_policies(name: str) -> None:
    scripts = [line for _, step in read(name).steps for line in str(step.get("run")).splitlines()]
    commands = [line for line in scripts if re.search(r"\bpulumi (up|preview)\b", line)]
    assert len(commands) == 1
    assert "--policy-pack policies" in commands[0]


def test_the_engine_is_the_one_of_the_catalogue() -> None:
    steps = [step for file in FILES for _, step in read(file.name).steps]
    given = [step["with"]["pulumi-version"] for step in steps if str(step.get("uses")).startswith("pulumi/actions@")]
    assert given == [versions.engine_cli()] * 3


def test_the_workflow_knows_the_marker_and_keeps_to_the_limit() -> None:
    script = read("comment.yaml").jobs["comment"]["steps"][-1]["with"]["script"]
    assert f"const marker = '{MARKER}';" in script
    assert f".slice(0, {LIMIT})" in script


def test_every_stack_file_is_rehearsed(tmp_path: Path) -> None:
    step = next(step for _, step in read("checks.yaml").steps if step.get("id") == "list")
    result = tmp_path / "output"
    environment = {"GITHUB_OUTPUT": str(result), "PATH": "/usr/bin:/bin"}
    subprocess.run(["bash", "-euo", "pipefail", "-c", step["run"]], cwd=ROOT, env=environment, check=True)
    names = json.loads(result.read_text().removeprefix("names="))
    assert names == sorted(file.name.split(".")[1] for file in ROOT.glob("Pulumi.*.yaml"))
