"""What a user sees when Google fails, and that the next `up` completes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from llmd_gke.catalog.accelerators import FAMILIES
from localcloud.google_api.core.cloud import Cloud
from localcloud.google_api.server import Emulator
from tests.published_provider.conftest import Published

V6E = next(one for one in FAMILIES if one.name == "v6e")


def with_a_node(config: dict[str, Any]) -> None:
    config["llmd-gke:tpuPools"][0].update(minNodes=1)


def until(done: Callable[[], bool], seconds: float) -> None:
    ends = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < ends
        time.sleep(0.5)


def refused(published: Published, cause: str, fix: str) -> str:
    """What an `up` that fails says; cause and fix are in it."""
    done = published.up("dev", check=False)
    assert done.returncode == 1, done.stdout
    said = " ".join(done.stdout.split())
    assert cause in said, done.stdout
    assert fix in said, done.stdout
    return done.stdout


def test_bursts_of_429_and_503_are_sat_out_and_a_failed_operation_is_mended_by_the_next_up(
    published: Published,
) -> None:
    published.emulator_faults(
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
    ("fault", "cause", "fix"),
    [
        (
            {"fault": "stockout", "zone": "us-east5-*", "capacity": "spot", "times": 2},
            "no such host is free in the zone right now",
            "wait, or set another zone or capacity",
        ),
        (
            {"fault": "world", "quota": {V6E.spot_quota: 0}},
            "the project's quota is exhausted, or was never granted",
            "ask for more",
        ),
    ],
    ids=["stock-out of spot hosts", "quota"],
)
def test_a_pool_without_hosts_is_named_with_cause_and_fix_and_the_next_up_completes(
    published: Published, fault: dict[str, Any], cause: str, fix: str
) -> None:
    """The provider itself only says that the pool is in the state ERROR."""
    published.edit("dev", with_a_node)
    published.emulator_faults(fault)
    said = refused(published, cause, fix)
    assert 'NodePool v6e1 was created in the error state "ERROR"' in said
    assert "Node pool v6e1 is in the state ERROR: Google Compute Engine" in said
    if "quota" in fault:
        published.emulator_faults()
    published.up("dev")

    def running() -> bool:
        """GKE goes on trying, whoever asks for what."""
        emulator = Emulator(Cloud(published.places.cloud))
        emulator.answer("GET", "compute.googleapis.com/compute/v1/projects/my-project/zones/us-east5-b", {}, {})
        pools = {key: one for key, one in published.kept()["resources"].items() if key.endswith("/nodePools/v6e1")}
        return [one["status"] for one in pools.values()] == ["RUNNING"]

    until(running, 60)


def test_a_first_deployment_goes_on_from_every_fault(published: Published) -> None:
    published.emulator_faults(
        {"fault": "world", "usableAfter": {"cloudresourcemanager.googleapis.com": 12, "compute.googleapis.com": 45}},
        {"fault": "drop", "method": "compute.routers.insert", "times": 1},
        {"fault": "slow", "method": "container.*.clusters.create", "seconds": 8},
        {"fault": "expired-token", "method": "container.*.clusters.create", "times": 1},
    )
    # APIs are on and refuse for a while, which the program sits out; then an answer is lost.
    said = refused(published, "the connection to Google was lost", "if it then says that something already exists")
    for first in ("project-dns", "network-vpc"):
        assert f"Google does not know yet that the API of {first} is on" in said
    assert "Cause: the API is off" not in said
    refused(published, "a request whose answer was lost", "`pulumi import` it, delete it")
    (router,) = [key for key in published.kept()["resources"] if "/routers/" in key]
    emulator = Emulator(Cloud(published.places.cloud))
    assert emulator.answer("DELETE", f"compute.googleapis.com/compute/v1/{router}", {}, {})[0] == 200
    refused(published, "the credentials have expired", "gcloud auth login --update-adc")
    published.up("dev")
    reclaim: dict[str, object] = {"fault": "reclaimed", "resource": "*/nodePools/v6e1", "seconds": 300, "times": 1}
    published.emulator_faults({"fault": "world", "inUseAfterCluster": 40}, reclaim)
    steps = published.steps("preview", "--refresh", stack="dev")
    assert {name: step for name, step in steps.items() if step not in ("same", "refresh")} == {}, "GKE replaces a host"
    done = published.down("--stack", "dev", check=False)
    assert done.returncode == 1
    assert "networkEndpointGroups" in done.stdout
    assert "what GKE's controllers made goes some minutes after their cluster" in " ".join(done.stdout.split())
    time_left = [float(one["until"]) for one in published.kept("google")["lingering"].values()]
    until(lambda: time.time() > max(time_left), 60)
    assert "Nothing is left" in published.down("--stack", "dev").stdout
