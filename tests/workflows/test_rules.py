"""What this project requires of its workflows, beyond what actionlint and zizmor (`make lint`) check."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest
import yaml

from operations.comment.markdown import LIMIT, MARKER
from tests.workflows.conftest import FILES, ROOT, Workflow, read

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


def trusted(job: dict[str, Any]) -> bool:
    """Whether a job gets an identity on Google Cloud or a secret."""
    return job.get("permissions", {}).get("id-token") == "write" or "{{ secrets." in yaml.safe_dump(job)


def test_only_the_listed_jobs_may_write() -> None:
    workflows = [read(file.name) for file in FILES]
    assert all(one.content["permissions"] in ({}, {"contents": "read"}) for one in workflows)
    assert {
        (workflow.name, name, scope)
        for workflow in workflows
        for name, job in workflow.jobs.items()
        for scope, level in job.get("permissions", {}).items()
        if level != "read"
    } == MAY_WRITE


def test_every_job_with_an_identity_or_a_secret_has_an_environment_of_its_stack(workflow: Workflow) -> None:
    jobs = {name: job for name, job in workflow.jobs.items() if trusted(job)}
    assert {name: job.get("environment") for name, job in jobs.items()} == ENVIRONMENTS.get(workflow.name, {})
    assert all("vars.STACKS != ''" in job["if"] for job in jobs.values())
    if "pull_request" in workflow.on:
        same = "github.event.pull_request.head.repo.full_name == github.repository"
        assert all(same in job["if"] for job in jobs.values())


def test_a_trusted_job_takes_nothing_that_an_untrusted_one_could_have_left(workflow: Workflow) -> None:
    steps = [step for job in workflow.jobs.values() if trusted(job) for step in job["steps"]]
    assert [step for step in steps if re.match(r"actions/(cache|download-artifact)", step.get("uses", ""))] == []


def test_the_workflow_that_comments_runs_nothing_of_the_pull_request() -> None:
    comment = read("comment.yaml")
    assert list(comment.on) == ["workflow_run"]
    assert comment.on["workflow_run"]["workflows"] == [read("checks.yaml").content["name"]]
    checkout, artifact, _, render, post = [step for _, step in comment.steps]
    assert checkout["with"] == {"persist-credentials": False}  # the default branch
    assert artifact["with"]["path"] == "${{ runner.temp }}/comment"  # outside of the checkout
    assert '--render "$DATA"' in render["run"]
    assert render["env"]["FORK"] == "${{ github.event.workflow_run.head_repository.full_name != github.repository }}"
    assert render["env"]["TEXT"] == post["env"]["TEXT"] != "${{ runner.temp }}/comment/comment.md"
    assert all("github.token" not in str(step) for step in (checkout, render))


def test_whatever_touches_a_stack_has_a_concurrency_group_with_its_name() -> None:
    jobs = {"preview": "preview.yaml", "up": "deploy.yaml", "drift": "drift.yaml"}
    concurrency = {job: read(name).jobs[job]["concurrency"] for job, name in jobs.items()}
    groups = [one["group"] for one in concurrency.values()]
    assert all("${{ matrix.stack }}" in group for group in groups)
    assert len(set(groups)) == 3  # a waiting deployment must not be dropped for a preview
    assert concurrency["up"]["cancel-in-progress"] is concurrency["drift"]["cancel-in-progress"] is False


def test_only_main_is_deployed_and_compared() -> None:
    assert read("deploy.yaml").on["push"] == {"branches": ["main"]}
    drift = read("drift.yaml")
    for job in (read("deploy.yaml").jobs["up"], drift.jobs["drift"]):
        assert "github.ref == 'refs/heads/main'" in job["if"]
    checkout = next(step for _, step in drift.steps if step.get("uses", "").startswith("actions/checkout@"))
    assert checkout["with"]["ref"] == "main"


def test_only_deploy_has_a_secret_and_previews_use_a_copy_without_any() -> None:
    assert [file.name for file in FILES if "{{ secrets." in file.read_text()] == ["deploy.yaml"]
    for name in ("preview.yaml", "drift.yaml"):
        (script,) = [step["run"] for _, step in read(name).steps if "pulumi preview" in step.get("run", "")]
        assert re.search(r"llmd-gke preview-copy .*\. \"\$COPY/environment\".*^ *pulumi preview", script, re.S | re.M)


@pytest.mark.parametrize("name", ["preview.yaml", "deploy.yaml"])
def test_what_runs_the_engine_against_google_runs_the_policies(name: str) -> None:
    scripts = [line for _, step in read(name).steps for line in str(step.get("run")).splitlines()]
    (command,) = [line for line in scripts if re.search(r"\bpulumi (up|preview)\b", line)]
    assert "--policy-pack policies" in command


def test_no_update_skips_its_preview() -> None:
    """Rules about the whole program run after all resources are made: only the preview in ``up`` lets them stop it."""
    found = subprocess.run(
        ["git", "grep", "-hE", "up\\b.*--skip-preview", "--", ":!tests", ":!localcloud/tests"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert (found.returncode, found.stdout) == (1, "")


def test_jobs_with_an_identity_install_the_engine_of_the_catalogue_by_its_checksum() -> None:
    for name in ENVIRONMENTS:
        steps = [step for _, step in read(name).steps]
        assert sum("-m localcloud.pulumi_cli.installer" in step.get("run", "") for step in steps) == 1
        assert not any(step.get("uses", "").startswith("pulumi/") for step in steps)


def test_the_workflow_knows_the_marker_and_keeps_to_the_limit() -> None:
    script = read("comment.yaml").jobs["comment"]["steps"][-1]["with"]["script"]
    assert f"const marker = '{MARKER}';" in script
    assert f".slice(0, {LIMIT})" in script
