"""Who the two halves of an update sign in as."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llmd_gke.settings import StackSettings
from operations.doctor.context import Context
from operations.doctor.project import LOGIN
from operations.doctor.result import CheckStatus, Result
from operations.doctor.sign_in import CHECK, VARIABLE
from tests.operations.doctor.asking import ask
from tests.operations.doctor.emulated import Google
from tests.operations.support import program

ROBOT = "deployer@some-project.iam.gserviceaccount.com"
ME = {"emulator": "me@example.com"}
CREDENTIAL = {"kind": "ExecCredential", "status": {"token": "gcloud-token"}}


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plugin that answers with what ``answer`` in its folder holds, and writes down how it was called."""
    script = f'#!/bin/sh\necho "$@" >> "{tmp_path}/calls"\ncat "{tmp_path}/answer"\n'
    program(tmp_path / "gke-gcloud-auth-plugin", script, monkeypatch)
    (tmp_path / "answer").write_text(json.dumps(CREDENTIAL))
    monkeypatch.delenv(VARIABLE, raising=False)
    return tmp_path


def only(context: Context) -> Result:
    (result,) = ask(context, CHECK)
    return result


def test_one_person_in_both_halves_is_fine(google: Google, context: Context, plugin: Path) -> None:
    google.conditions(identities={**ME, "gcloud-token": "me@example.com"})
    result = only(context)
    assert (result.status, result.message) == (CheckStatus.OK, "both halves use me@example.com")


def test_gclouds_account_and_application_default_credentials_of_different_people_are_told_apart(
    google: Google, context: Context, plugin: Path
) -> None:
    google.conditions(identities={**ME, "gcloud-token": "other@example.com"})
    result = only(context)
    assert result.status is CheckStatus.FAILED
    assert "other@example.com" in result.message
    assert "me@example.com" in result.message
    assert result.fix == LOGIN == "gcloud auth login --update-adc"


@pytest.mark.parametrize("answer", ["", "ERROR: You do not currently have an active account", "[]", '{"status": {}}'])
def test_application_default_credentials_alone_are_not_enough(
    google: Google, context: Context, plugin: Path, answer: str
) -> None:
    (plugin / "answer").write_text(answer)
    result = only(context)
    assert result.status is CheckStatus.FAILED
    assert "gcloud is not signed in" in result.message
    assert result.fix == LOGIN


def test_a_service_account_to_impersonate_is_impersonated_by_the_plugin_too(
    google: Google, eu4a: StackSettings, plugin: Path
) -> None:
    google.conditions(identities={**ME, "gcloud-token": ROBOT})
    result = only(Context("eu4a", eu4a, impersonate=ROBOT))
    assert (result.status, result.message) == (CheckStatus.OK, f"both halves use {ROBOT}")
    assert (plugin / "calls").read_text().split() == [f"--impersonate_service_account={ROBOT}"]


def test_impersonation_by_the_environment_reaches_one_half_only(
    google: Google, context: Context, plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, ROBOT)
    result = only(context)
    assert result.status is CheckStatus.FAILED
    assert "gcp:impersonateServiceAccount" in result.fix


def test_no_finding_shows_a_token(google: Google, context: Context, plugin: Path) -> None:
    google.conditions(identities={**ME, "gcloud-token": "other@example.com"})
    assert "gcloud-token" not in str(only(context))
    assert "gcloud-token" not in str(google.calls)
