"""What is said of the engine's errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from llmd_gke.google_errors import SIGN_IN
from localcloud.common.workdir import Workdir
from localcloud.workflow import failures

NETWORK, ROUTER = "urn:pulumi:dev::p::gcp:compute/network:Network::n", "urn:pulumi:dev::p::gcp:compute/router:Router::r"


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


def test_cause_and_fix_of_a_resource_that_failed_are_said(workdir: Workdir) -> None:
    logged(
        workdir,
        error("googleapi: Error 401: no", ROUTER),
        {"resOpFailedEvent": {"metadata": {"urn": ROUTER}}},
        error("update failed"),
    )
    assert f"Cause: {SIGN_IN.cause}.\nFix: {SIGN_IN.fix}." in causes(workdir)


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


def test_a_pool_in_error_says_why_as_google_has_it(workdir: Workdir) -> None:
    pool = {"inputs": {}, "status": "ERROR", "statusMessage": "[GCE_STOCKOUT]: no"}
    content = {"objects": {failures.NODE_POOL: {"projects/p/locations/l/clusters/c/nodePools/tpu": pool}}}
    (workdir.cloud / "google.json").write_text(json.dumps(content))
    assert "Node pool tpu is in state ERROR: [GCE_STOCKOUT]: no" in causes(workdir)
    assert "Cause: the zone has no free host of this type right now" in causes(workdir)


def test_without_an_operation_nothing_is_said(workdir: Workdir) -> None:
    assert causes(workdir) == ""


def test_an_update_that_counts_a_pool_without_nodes_as_made_says_how_it_is_made_again(workdir: Workdir) -> None:
    pool = {"inputs": {}, "status": "ERROR", "statusMessage": "[GCE_STOCKOUT]: no"}
    content = {"objects": {failures.NODE_POOL: {"projects/p/locations/l/clusters/c/nodePools/tpu": pool}}}
    (workdir.cloud / "google.json").write_text(json.dumps(content))
    console = Console(record=True, width=1000)
    failures.say_outcome(workdir, "dev", 0, console)
    text = console.export_text()
    assert "Warning: node pool tpu is in state ERROR: [GCE_STOCKOUT]: no\nFix: wait, or set another zone" in text
    assert "in `make shell`: GKE keeps trying." in text
    assert "`pulumi up --stack dev --replace '**NodePool::tpu-nodes'` recreates it." in text
