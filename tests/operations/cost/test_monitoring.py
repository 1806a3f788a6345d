from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from llmd_gke.catalog import monitoring as catalogue
from llmd_gke.settings import StackSettings
from operations.cost.monitoring import SECONDS_PER_MONTH, MonitoringPrice, estimate, logs
from operations.options import Cloud
from operations.target import Target
from tests.operations.conftest import Clone
from tests.operations.support import run

NOTHING = MonitoringPrice(
    samples=0, conditions=0, metric_references=0, returned_points=0, uptime_executions=0, usd_per_million_spans=None
)


def settings(clone: Clone, **keys: Any) -> StackSettings:
    clone.write()
    clone.add("".join(f"  llmd-gke:{key}: {json.dumps(value)}\n" for key, value in keys.items()))
    return Target("one", Cloud.GOOGLE, clone.root).settings


def test_samples_are_those_of_servers_pickers_and_states_at_their_intervals(clone: Clone) -> None:
    cost = estimate(settings(clone, monitoring={"intervalSeconds": 60}))
    scraped = (3 * catalogue.SERIES_OF_A_SERVER + catalogue.SERIES_OF_A_PICKER) * SECONDS_PER_MONTH // 60
    states = (4 * catalogue.STATES_OF_A_POD + 2 * catalogue.STATES_OF_A_DEPLOYMENT) * SECONDS_PER_MONTH // 30
    assert cost.samples == scraped + states


def test_a_stack_without_alerts_pays_for_none(clone: Clone) -> None:
    assert estimate(settings(clone, monitoring={"alerts": False})).conditions == 0
    cost = estimate(settings(clone))
    assert cost.conditions > 5
    assert cost.metric_references >= cost.conditions
    assert cost.returned_points == cost.metric_references * SECONDS_PER_MONTH // 60


def test_only_an_external_gateway_is_checked_from_outside(clone: Clone) -> None:
    assert estimate(settings(clone)).uptime_executions == 0
    external = {"exposure": "external", "allowPlainHttp": True, "open": True}
    assert estimate(settings(clone, gateway=external)).uptime_executions == 6 * SECONDS_PER_MONTH // 60
    unchecked = settings(clone, gateway=external, monitoring={"uptimeCheck": False})
    assert estimate(unchecked).uptime_executions == 0


@pytest.mark.parametrize(
    ("price", "usd"),
    [
        (replace(NOTHING, samples=100_000_000), 6.0),
        (replace(NOTHING, conditions=10, metric_references=20, returned_points=2_000_000), 0.0),
        (replace(NOTHING, uptime_executions=1_000_000), 0.0),
        (replace(NOTHING, uptime_executions=1_010_000), 3.0),
    ],
)
def test_the_price_of_a_month_is_the_list_price_of_each_part(price: MonitoringPrice, usd: float) -> None:
    assert price.usd_per_month == pytest.approx(usd)


def test_alerts_are_free_for_now_and_their_later_price_is_said() -> None:
    price = replace(NOTHING, conditions=10, metric_references=20, returned_points=2_000_000)
    assert price.alerts_usd_per_month == pytest.approx(8.0)
    assert "Alerts are free; from September 2027 about 8.00 USD more." in str(price)
    assert "Alerts are free" not in str(NOTHING)


def test_spans_have_a_price_where_they_go_to_cloud_trace(clone: Clone) -> None:
    assert estimate(settings(clone)).usd_per_million_spans is None
    traced = estimate(settings(clone, monitoring={"traces": {"cloudTrace": True}}))
    assert "0.20 USD per million spans; the first 2.5 million are free" in str(traced)


def test_the_log_of_a_replica_has_a_price_with_and_without_the_reads_of_its_metrics(clone: Clone) -> None:
    clone.write()
    quiet = json.loads(run("cost", "--stack", "one", "--output", "json", root=clone.root).stdout)["logs"][0]
    assert 0.05 < quiet["usdPerReplicaAndMonth"] < 0.2
    logged = "extraArgs: [--disable-access-log-for-endpoints, /health]"
    clone.edit("name: qwen,", f"name: qwen, {logged},")
    [loud] = logs(Target("one", Cloud.GOOGLE, clone.root).settings)
    assert 20 < loud.gib_per_month * catalogue.USD_PER_GIB_OF_LOGS < 25
    assert "--disable-access-log-for-endpoints /health,/metrics" in str(loud)


def test_the_command_shows_it_beside_the_totals_and_not_in_them(clone: Clone) -> None:
    shown = run("cost", "--stack", "one", root=clone.root).stdout
    assert "Monitoring, all replicas running: about " in shown
    printed = json.loads(run("cost", "--stack", "one", "--output", "json", root=clone.root).stdout)
    assert printed["monitoring"]["usdPerMonth"] > 1
    assert "monitoring" in printed["notIncluded"]
