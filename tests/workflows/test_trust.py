"""What a job that is trusted with something may not do, and what nobody may: the rules behind the audit's findings.

The same as zizmor's audits `cache-poisoning`, `artipacked`, `dangerous-triggers`, `overprovisioned-secrets`,
`secrets-outside-env`, `self-hosted-runner` and `github-env`, for the workflows of this repository.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.workflows.conftest import FILES, Workflow, read
from tests.workflows.test_rules import ENVIRONMENTS, trusted

TRIGGERS = {"pull_request", "push", "schedule", "workflow_dispatch", "workflow_run"}
TRUSTED = [(file, job) for file, jobs in ENVIRONMENTS.items() for job in jobs]
EVERY_TRUSTED = pytest.mark.parametrize(("file", "name"), TRUSTED)


def uses(job: dict[str, Any]) -> list[str]:
    return [str(step["uses"]).split("@")[0] for step in job["steps"] if "uses" in step]


def test_the_trusted_jobs_are_the_ones_that_are_listed() -> None:
    result = [(file.name, job) for file in FILES for job, one in read(file.name).jobs.items() if trusted(one)]
    assert sorted(result) == sorted(TRUSTED)


def test_no_trigger_runs_a_strangers_code_with_the_repositorys_rights(workflow: Workflow) -> None:
    assert set(workflow.on) <= TRIGGERS
    if "workflow_run" in workflow.on:
        checkouts = [step for _, step in workflow.steps if "checkout" in str(step.get("uses"))]
        assert checkouts
        assert all(set(step["with"]) == {"persist-credentials"} for step in checkouts)


@EVERY_TRUSTED
def test_a_trusted_job_takes_nothing_that_an_untrusted_one_could_have_left(file: str, name: str) -> None:
    job = read(file).jobs[name]
    assert not {"actions/cache", "actions/cache/restore", "actions/download-artifact"} & set(uses(job)), file
    for step in job["steps"]:
        options = step.get("with", {})
        assert "cache" not in options or options["cache"] is False, f"{file}: {step.get('uses')}"


@EVERY_TRUSTED
def test_a_trusted_job_stops_at_its_first_failure(file: str, name: str) -> None:
    text = yaml.safe_dump(read(file).jobs[name])
    assert "continue-on-error" not in text
    assert "always()" not in text


def test_secrets_are_in_the_environment_of_one_step_and_nowhere_else(workflow: Workflow) -> None:
    given = 0
    for _, step in workflow.steps:
        values = step.get("env", {})
        given += sum(str(value).count("${{ secrets.") for value in values.values())
    assert given == workflow.text.count("${{ secrets.")
    assert "secrets: inherit" not in workflow.text
    assert "toJSON(secrets" not in workflow.text


def test_the_repositorys_token_goes_to_the_one_step_that_needs_it(workflow: Workflow) -> None:
    result = [step["uses"].split("@")[0] for _, step in workflow.steps if "github.token" in yaml.safe_dump(step)]
    assert result == (["actions/download-artifact"] if workflow.name == "comment.yaml" else [])
    assert "GITHUB_TOKEN" not in workflow.text


def test_no_script_writes_variables_for_later_steps(workflow: Workflow) -> None:
    assert not re.search(r"GITHUB_(ENV|PATH)\b", workflow.text)


def test_jobs_run_on_githubs_own_machines_of_a_named_version(workflow: Workflow) -> None:
    assert {one["runs-on"] for one in workflow.jobs.values()} == {"ubuntu-24.04"}


def test_no_artifact_is_a_whole_checkout(workflow: Workflow) -> None:
    paths = [step["with"]["path"] for _, step in workflow.steps if "upload-artifact" in str(step.get("uses"))]
    assert all(path.strip() not in (".", "./", "${{ github.workspace }}") for path in paths)
    assert all(".git" not in path for path in paths)


@EVERY_TRUSTED
def test_a_secret_of_a_fork_free_job_is_not_reachable_without_its_environment(file: str, name: str) -> None:
    job = read(file).jobs[name]
    environment = job["environment"]
    assert "${{ matrix.stack }}" in environment
    assert environment.removesuffix("${{ matrix.stack }}") in ("", "preview-", "drift-")
