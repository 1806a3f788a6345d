"""What exists, as the command prints it."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from typer.testing import CliRunner

from localcloud.google_api import cli
from localcloud.google_api.core.journal import HIDDEN
from localcloud.tests.google_api.conftest import COMPUTE, GKE, POOL, Client

CERTIFICATE = {"name": "cert", "certificate": "PUBLIC", "privateKey": "SECRET"}


@pytest.fixture
def busy(cluster: Client) -> Client:
    """With a pool that has no hosts, a certificate, a request that was refused, and markup in a name."""
    cluster.faults(
        {"fault": "world", "enabledApis": ["*"]}, {"fault": "stockout", "zone": "us-east5-b"},
        {"fault": "slow", "method": "compute.addresses.*", "seconds": 100},
    )  # fmt: skip
    cluster.ok("POST", f"{GKE}/clusters/gke/nodePools", {"nodePool": POOL})
    cluster.ok("POST", f"{COMPUTE}/regions/us-east5/sslCertificates", CERTIFICATE)
    cluster.ok("POST", f"{COMPUTE}/regions/us-east5/addresses", {"name": "ip", "description": "<b>bold</b>"})
    cluster.refused("GET", f"{COMPUTE}/global/networks/<i>none<i>")
    return cluster


def printed(*arguments: str) -> Any:
    done = CliRunner().invoke(cli.app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


def test_the_command_prints_what_exists_and_sets_faults(busy: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "folder", lambda: busy.cloud.folder)
    for part, content in busy.seen().items():
        assert printed("show", part) == content
    assert printed("faults", '[{"fault": "error", "method": "compute.*", "code": 503}]')[0]["code"] == 503
    assert busy.refused("GET", f"{COMPUTE}/global/networks/vpc")[0] == 503
    assert printed("faults", "[]") == []
    for wrong in ('[{"fault": "meteor"}]', '{"fault": "meteor"}'):
        with pytest.raises(Exception, match="meteor"):
            printed("faults", wrong)


def test_looking_does_not_make_the_files_again_that_make_down_removed(busy: Client) -> None:
    shutil.rmtree(busy.cloud.folder)
    assert busy.seen()["resources"] == {}
    assert not busy.cloud.folder.exists()


def test_nothing_secret_is_written_down(busy: Client) -> None:
    seen = json.dumps(busy.seen())
    assert HIDDEN in seen
    assert "SECRET" not in seen
    assert all(b"SECRET" not in file.read_bytes() for file in busy.cloud.folder.iterdir())
