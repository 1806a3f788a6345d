"""``llmd-gke cost --actual``: node hours by pool, from a stand-in for Prometheus, times list prices."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from llmd_gke.catalog.metrics import POOL_OF_NODE
from llmd_gke.settings import load_stack
from operations.cost import actual
from operations.doctor.google import ENDPOINT
from tests.fakes.prometheus import StandIn, serving
from tests.operations.conftest import Clone
from tests.operations.support import Done, run

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def measured(clone: Clone, stand_in: StandIn, *arguments: str) -> Done:
    with serving(stand_in) as url:
        environment = {ENDPOINT: url, "NO_PROXY": "127.0.0.1"}
        return run("cost", "--actual", "--stack", "one", *arguments, root=clone.root, environment=environment)


def nodes(clone: Clone, **pools: float) -> StandIn:
    """A cluster that has had that many nodes in each pool all the time."""
    settings = load_stack(clone.root, "one").settings
    series = [({POOL_OF_NODE: name}, lambda _, count=count: count) for name, count in pools.items()]
    return StandIn(series={actual.query(settings): series})


def data(done: Done) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("days", [0.5, 1, 30])
def test_hours_of_a_pool_are_its_nodes_over_the_period_and_cost_their_chips_price(clone: Clone, days: float) -> None:
    shown = data(measured(clone, nodes(clone, pool=2, system=1), "--days", f"{days:g}", "-o", "json"))
    pool, others = shown["pools"]
    assert pool["nodeHours"] == pytest.approx(2 * 24 * days, rel=0.001)
    assert pool["chipHours"] == pytest.approx(8 * 24 * days, rel=0.001)
    assert pool["usd"] == pytest.approx(8 * 24 * days * 2.7, rel=0.001)
    assert (others["name"], others["usd"], others["open"]) == (actual.OTHERS, None, "not priced")
    assert shown["usd"] == pytest.approx(pool["usd"] + shown["clusterFeeUsd"], abs=0.02)


def test_it_asks_for_this_cluster_only_and_for_a_bounded_number_of_points(clone: Clone) -> None:
    stand_in = nodes(clone, pool=1)
    assert measured(clone, stand_in, "--days", "30").returncode == 0
    ((path, form, _),) = stand_in.asked
    assert path.startswith("/monitoring.googleapis.com/v1/projects/my-project/")
    assert 'cluster_name="llmd-one"' in form["query"]
    assert (float(form["end"]) - float(form["start"])) / float(form["step"]) <= actual.MOST_POINTS


@pytest.mark.parametrize(
    ("more", "reason"),
    [(", capacity: flex-start", "no public price"), (", capacity: reservation, reservation: {name: r}", "as reserved")],
)
def test_a_pool_without_price_leaves_the_sum_open(clone: Clone, more: str, reason: str) -> None:
    clone.write(more=more)
    shown = data(measured(clone, nodes(clone, pool=1), "-o", "json"))
    assert (shown["pools"][0]["open"], shown["pools"][0]["usd"], shown["usd"]) == (reason, None, None)


def test_each_node_pool_of_a_list_of_capacities_has_its_hours_at_its_own_price(clone: Clone) -> None:
    clone.write(more=", capacity: [{kind: on-demand}, {kind: spot}]")
    stand_in = nodes(clone, **{"pool-on-demand": 1, "pool-spot": 2, "system": 1})
    shown = data(measured(clone, stand_in, "-o", "json"))
    assert [(one["name"], one["open"]) for one in shown["pools"]] == [
        ("pool-on-demand", ""),
        ("pool-spot", ""),
        (actual.OTHERS, "not priced"),
    ]
    # us-east5: 2.70 USD per chip and hour on demand, 1.215 spot; four chips a host.
    assert [one["usd"] for one in shown["pools"][:2]] == [
        pytest.approx(4 * 24 * 2.7, rel=0.001),
        pytest.approx(8 * 24 * 1.215, rel=0.001),
    ]
    assert shown["pools"][2]["nodeHours"] == pytest.approx(24, rel=0.001), "only the system pool is another pool"


def test_nodes_of_a_laptop_cloud_count_from_their_creation_within_the_period() -> None:
    def node(pool: str, created: str) -> dict[str, Any]:
        return {"metadata": {"labels": {"cloud.google.com/gke-nodepool": pool}, "creationTimestamp": created}}

    listed = [
        node("a", "2026-11-23T10:00:00Z"),
        node("a", "2026-11-01T00:00:00Z"),
        node("b", "2026-11-23T13:00:00Z"),
        {"metadata": {}},
    ]
    assert actual.hours_of_nodes(listed, NOW, 86400) == {"a": 26.0, "b": 0.0}


def test_a_cloud_without_nodes_and_metrics_that_do_not_answer_say_what_is_needed(clone: Clone) -> None:
    for done, status, needed in (
        (measured(clone, StandIn(), "--cloud", "rehearsal"), 7, "CLOUD=laptop"),
        (measured(clone, StandIn(status=403)), 8, "monitoring.viewer"),
    ):
        assert done.returncode == status
        assert needed in done.stderr


@pytest.mark.parametrize("other", [("--against", "main"), ("--tokens-per-second", "5")])
def test_what_was_and_what_will_be_are_not_mixed(clone: Clone, other: tuple[str, str]) -> None:
    done = run("cost", "--actual", *other, "--stack", "one", root=clone.root)
    assert done.returncode == 2
    assert "--actual cannot be combined" in done.stderr
