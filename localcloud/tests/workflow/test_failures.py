"""What is said of the engine's errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from localcloud.common.workdir import Workdir
from localcloud.workflow import failures

NETWORK = "urn:pulumi:dev::p::gcp:compute/network:Network::n"


@pytest.fixture
def workdir(tmp_path: Path) -> Workdir:
    workdir = Workdir(tmp_path, tmp_path / "home")
    workdir.cloud.mkdir(parents=True)
    return workdir


def logged(workdir: Workdir, *events: object) -> None:
    failures.log(workdir).write_text("".join(json.dumps(one) + "\n" for one in events) + '{"cut')


def error(message: str, urn: str = "") -> object:
    return {"diagnosticEvent": {"severity": "error", "message": message, "urn": urn}}


def causes(workdir: Workdir) -> str:
    console = Console(record=True, width=1000, file=None, quiet=False)
    failures.say_causes(workdir, "dev", console)
    return console.export_text()


def test_an_error_that_the_bridge_reports_twice_has_one_cause(workdir: Workdir) -> None:
    cluster = "urn:pulumi:dev::p::gcp:container/cluster:Cluster::cluster-control-plane"
    logged(
        workdir,
        error("  sdk-v2/provider2.go:571: sdk.helper_schema: internal error: provider=google@10.2.0", cluster),
        error(f"1 error occurred:\n\t* creating {cluster}: 1 error occurred:\n\t* internal error\n\n", cluster),
        {"resOpFailedEvent": {"metadata": {"urn": cluster}}},
    )
    assert causes(workdir).count("Cause: ") == 1
    assert "later updates count it as created" in causes(workdir)


def test_an_error_that_another_attempt_mended_is_no_cause(workdir: Workdir) -> None:
    logged(
        workdir,
        error("googleapi: Error 403: SERVICE_DISABLED", NETWORK),
        {"resOutputsEvent": {"metadata": {"urn": NETWORK}}},
    )
    assert causes(workdir) == ""
    assert list(failures.errors(failures.log(workdir))) == []
