"""What a user sees when Google fails, and that the next `up` completes."""

from __future__ import annotations

import shlex
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from llmd_gke import google_errors
from llmd_gke.catalog.accelerators import FAMILIES
from llmd_gke.settings import load_stack
from localcloud.google_api.core.cloud import EmulatedCloud
from localcloud.google_api.server import Emulator, running
from localcloud.providers.protocol.values import JsonObject
from operations.doctor import node_pools as checks
from operations.doctor.google import GoogleClient, login
from operations.status import node_pools
from operations.status.objects import State
from tests.real_engine.harness import Rehearsal, until

V6E = next(one for one in FAMILIES if one.name == "v6e")


def with_a_node(config: dict[str, Any]) -> None:
    config["llmd-gke:pools"][0].update(minNodes=1)


@contextmanager
def emulating(folder: Path) -> Generator[GoogleClient]:
    """Google's client library, on what the cloud holds."""
    with running(folder) as cloud:
        yield GoogleClient("my-project", login(cloud.url), endpoint=cloud.url)


STOCK_OUT, QUOTA, LOST = "GCE_STOCKOUT", "GCE_QUOTA_EXCEEDED", "https://compute.googleapis.com/x: EOF"
EXISTS, SIGN_IN, OFF = "googleapi: Error 409: already exists", "googleapi: Error 401", "SERVICE_DISABLED"
IN_USE = "resourceInUseByAnotherResource"
"""What Google writes: an entry of llmd_gke/google_errors.py explains each."""


def normalized(text: str) -> str:
    return " ".join(text.split())


def explanation(sign: str) -> tuple[str, str]:
    """Cause and fix, however they are worded."""
    ((cause, fix),) = google_errors.explained([sign], "dev")
    return cause, fix


def refused(published: Rehearsal, sign: str) -> str:
    """What an `up` that fails says; cause and fix of such an error are in it."""
    done = published.up("dev", check=False)
    assert done.returncode == 1, done.stdout
    cause, fix = explanation(sign)
    assert cause in normalized(done.stdout), done.stdout
    assert fix in normalized(done.stdout), done.stdout
    return done.stdout


def test_bursts_of_429_and_503_are_sat_out_and_a_failed_operation_is_mended_by_the_next_up(
    published: Rehearsal,
) -> None:
    published.google_faults(
        {"fault": "error", "method": "compute.subnetworks.get", "code": 503, "times": 2, "message": "backend error"},
        {"fault": "error", "method": "compute.routers.get", "code": 429, "times": 2, "message": "rate limit exceeded"},
        {"fault": "operation", "method": "compute.addresses.insert", "message": "address pool is empty", "times": 1},
    )
    failed = published.up("dev", check=False)
    assert failed.returncode != 0
    assert "address pool is empty" in failed.stdout
    assert "backend error" not in failed.stdout
    assert "rate limit" not in failed.stdout
    assert "created" in published.up("dev").stdout
    assert "Nothing is left" in published.down("--stack", "dev").stdout


@pytest.mark.parametrize(
    ("fault", "sign"),
    [
        ({"fault": "stockout", "zone": "us-east5-*", "capacity": "spot", "times": 2}, STOCK_OUT),
        ({"fault": "world", "quota": {V6E.spot_quota: 0}}, QUOTA),
    ],
    ids=["stock-out of spot hosts", "quota"],
)
def test_a_pool_without_hosts_is_named_with_cause_and_fix_and_the_next_up_completes(
    published: Rehearsal, fault: dict[str, Any], sign: str
) -> None:
    """The provider itself only says that the pool is in state ERROR."""
    published.edit("dev", with_a_node)
    published.google_faults(fault)
    output = refused(published, sign)
    assert 'NodePool v6e1 was created in the error state "ERROR"' in output
    assert "Node pool v6e1 is in state ERROR: Google Compute Engine" in output
    if "quota" in fault:
        published.google_faults()
    published.up("dev")

    def running() -> bool:
        """GKE goes on trying, whoever asks for what."""
        emulator = Emulator(EmulatedCloud(published.workdir.cloud))
        emulator.answer("GET", "compute.googleapis.com/compute/v1/projects/my-project/zones/us-east5-b", {}, {})
        pools = {key: one for key, one in published.kept()["resources"].items() if key.endswith("/nodePools/v6e1")}
        return [one["status"] for one in pools.values()] == ["RUNNING"]

    until(running, "the pool runs", 60)


def test_a_pool_that_the_next_up_counts_as_made_without_a_node_is_named_and_made_again(published: Rehearsal) -> None:
    """The provider fails once; only the first `up` says that there is no host."""
    published.edit("dev", with_a_node)
    published.google_faults({"fault": "world", "stockout": ["us-east5-b"]})
    refused(published, STOCK_OUT)
    second = published.up("dev")
    assert "Warning: node pool v6e1 is in state ERROR: Google Compute Engine" in second.stdout
    again = "pulumi up --stack dev --replace '**NodePool::v6e1-nodes'"
    assert again in second.stdout
    settings = load_stack(published.workdir.root, "dev").settings
    with emulating(published.workdir.cloud) as google:
        (line,) = [
            one for one in node_pools.lines(checks.node_pools(google, settings), "dev") if one.state is State.BAD
        ]
    assert "v6e1 is ERROR: Google Compute Engine" in line.text
    assert again in line.fix
    published.google_faults()
    replaced = published.pulumi(*shlex.split(again)[1:], "--yes", "--skip-preview")
    assert "replaced" in replaced.stdout
    (pool,) = [one for key, one in published.kept()["resources"].items() if key.endswith("/nodePools/v6e1")]
    assert pool["status"] == "RUNNING"
    assert "ERROR" not in published.up("dev").stdout


def test_a_first_deployment_goes_on_from_every_fault(published: Rehearsal) -> None:
    published.google_faults(
        {"fault": "world", "usableAfter": {"cloudresourcemanager.googleapis.com": 12, "compute.googleapis.com": 45}},
        {"fault": "drop", "method": "compute.routers.insert", "times": 1},
        {"fault": "slow", "method": "container.*.clusters.create", "seconds": 8},
        {"fault": "expired-token", "method": "container.*.clusters.create", "times": 1},
    )
    # APIs are on and refuse for a while, which the program sits out; then an answer is lost.
    output = refused(published, LOST)
    for first in ("project-dns", "network-vpc"):
        assert f"{first}: not all of Google's servers accept its API yet" in output
    assert explanation(OFF)[0] not in normalized(output)
    refused(published, EXISTS)
    (router,) = [key for key in published.kept()["resources"] if "/routers/" in key]
    emulator = Emulator(EmulatedCloud(published.workdir.cloud))
    assert emulator.answer("DELETE", f"compute.googleapis.com/compute/v1/{router}", {}, {})[0] == 200
    refused(published, SIGN_IN)
    published.up("dev")
    reclaim: JsonObject = {"fault": "reclaimed", "resource": "*/nodePools/v6e1", "seconds": 300, "times": 1}
    published.google_faults({"fault": "world", "inUseAfterCluster": 40}, reclaim)
    steps = published.steps("preview", "--refresh", stack="dev")
    assert {name: step for name, step in steps.items() if step not in ("same", "refresh")} == {}, "GKE replaces a host"
    done = published.down("--stack", "dev", check=False)
    assert done.returncode == 1
    assert "networkEndpointGroups" in done.stdout
    assert explanation(IN_USE)[0] in normalized(done.stdout)
    time_left = [float(one["until"]) for one in published.kept("google")["lingering"].values()]
    until(lambda: time.time() > max(time_left), "nothing uses the network", 60)
    assert "Nothing is left" in published.down("--stack", "dev").stdout
