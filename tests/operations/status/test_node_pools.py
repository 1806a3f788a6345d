"""Node pools that GKE could not make, asked of the emulator of Google's APIs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from llmd_gke import google_errors
from llmd_gke.settings import StackSettings, load_stack
from operations.doctor import node_pools as checks
from operations.doctor.context import Context
from operations.doctor.google import ENDPOINT
from operations.doctor.result import CheckStatus
from operations.status import node_pools
from operations.status.objects import Line, State
from tests.operations.doctor.emulated import PROJECT, ZONE, Google, emulating


@pytest.fixture
def settings() -> StackSettings:
    return load_stack(Path(__file__).parents[3], "eu4a").settings.model_copy(update={"project": PROJECT})


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Google]:
    with emulating(tmp_path / "cloud") as google:
        monkeypatch.setenv(ENDPOINT, google.url)
        yield google


def make_pool(google: Google, settings: StackSettings) -> None:
    (pool,) = settings.pools
    cluster = f"{settings.cluster.location}/clusters/{settings.cluster.name}"
    config = {"machineType": pool.machine_type, "diskType": "hyperdisk-balanced"}
    body = {"name": pool.name, "initialNodeCount": 1, "locations": [ZONE], "config": config}
    google.make(f"container.googleapis.com/v1/projects/{PROJECT}/locations/{cluster}/nodePools", {"nodePool": body})


def lines(settings: StackSettings) -> dict[str, Line]:
    return {line.subject: line for line in node_pools.section(settings, "eu4a")}


def test_a_pool_without_hosts_is_bad_with_the_reason_that_the_provider_keeps_to_itself(
    google: Google, settings: StackSettings
) -> None:
    google.make_cluster(settings)
    google.conditions(stockout=[ZONE])
    make_pool(google, settings)
    shown = lines(settings)
    assert shown["running"].text == "default-pool"
    line = shown[settings.pools[0].name]
    assert line.state is State.BAD
    assert "v6e4 is ERROR: Google Compute Engine" in line.text
    assert "GCE_STOCKOUT" in line.text
    assert google_errors.pool_fix("GCE_STOCKOUT", "eu4a") in line.fix
    assert "`pulumi up --stack eu4a --replace '**NodePool::v6e4-nodes'` recreates it" in line.fix


def test_pools_that_run_are_one_good_line(google: Google, settings: StackSettings) -> None:
    google.make_cluster(settings)
    make_pool(google, settings)
    assert lines(settings) == {"running": Line("running", State.GOOD, "default-pool, v6e4")}


def test_a_pool_that_is_under_way_is_waited_for() -> None:
    pools = [checks.NodePool("tpu", "PROVISIONING", ""), checks.NodePool("big", "RUNNING_WITH_ERROR", "a defect")]
    first, second = node_pools.lines(pools, "eu4a")
    assert (first.state, first.text) == (State.BUSY, "PROVISIONING")
    assert (second.state, second.text) == (State.BAD, "big is RUNNING_WITH_ERROR: a defect")
    assert "--replace" not in second.fix, "it has nodes"


def test_a_cluster_that_is_not_there_is_unknown(google: Google, settings: StackSettings) -> None:
    del google
    (line,) = node_pools.section(settings, "eu4a")
    assert line.state is State.UNKNOWN
    assert "cannot be queried" in line.text


def test_doctor_warns_of_a_pool_that_the_next_up_would_count_as_made(google: Google, settings: StackSettings) -> None:
    assert list(checks.check(Context("eu4a", settings))) == [], "there is no cluster yet"
    google.make_cluster(settings)
    google.conditions(quota={"CT6E": 0})
    make_pool(google, settings)
    (result,) = checks.check(Context("eu4a", settings))
    assert result.status is CheckStatus.WARNING
    assert "v6e4 is ERROR" in result.message
    assert google_errors.pool_fix("GCE_QUOTA_EXCEEDED", "eu4a") in result.fix
    assert "--replace '**NodePool::v6e4-nodes'" in result.fix


def test_doctor_is_content_with_pools_that_run(google: Google, settings: StackSettings) -> None:
    google.make_cluster(settings)
    make_pool(google, settings)
    (result,) = checks.check(Context("eu4a", settings))
    assert (result.status, result.message) == (CheckStatus.OK, "GKE reports no error of default-pool, v6e4")
