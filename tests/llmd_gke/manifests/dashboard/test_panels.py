from __future__ import annotations

import re

import pytest

from llmd_gke.catalog import metrics
from llmd_gke.manifests.dashboard import Panel, panels
from llmd_gke.manifests.dashboard.panel import LABEL
from llmd_gke.settings import StackSettings
from tests.llmd_gke.manifests.alerts.conftest import MakeStack

AGGREGATED = re.compile(r"^(?:sum|max|avg|count) by \(([^)]*)\)")


def named(stack: StackSettings, key: str) -> Panel:
    return next(panel for panel in panels(stack) if panel.key == key)


def test_every_metric_is_asked_of_this_cluster_or_network_only(stack: StackSettings) -> None:
    selectors = [
        selector
        for panel in panels(stack)
        for query in panel.queries
        for selector in re.findall(r"\{.*?\}", query.promql)
    ]
    assert selectors
    for selector in selectors:
        assert (
            'cluster="llmd-dev"' in selector
            or 'cluster_name="llmd-dev"' in selector
            or ('network_name="llmd-dev"' in selector)
        )


def test_a_legend_names_only_labels_that_the_query_keeps(stack: StackSettings) -> None:
    aggregated = [
        (panel.key, query, kept[1].split(", "))
        for panel in panels(stack)
        for query in panel.queries
        if (kept := AGGREGATED.search(query.promql)) is not None
    ]
    assert len(aggregated) > 10
    for key, query, labels in aggregated:
        assert set(LABEL.findall(query.legend)) <= set(labels), key


@pytest.mark.parametrize(
    ("exposure", "metric", "kind"),
    [
        ({"exposure": "internal"}, metrics.Google.INTERNAL_REQUESTS, metrics.INTERNAL_LB),
        (
            {"exposure": "external", "allowPlainHttp": True, "open": True},
            metrics.Google.EXTERNAL_REQUESTS,
            metrics.EXTERNAL_LB,
        ),
        ({"class": "istio"}, metrics.Istio.REQUESTS, None),
    ],
)
def test_the_gateway_is_asked_about_by_the_metrics_of_its_kind(
    make_stack: MakeStack, exposure: dict[str, object], metric: str, kind: str | None
) -> None:
    expression = named(make_stack(gateway=exposure), "gateway-answers").queries[0].promql
    assert metric in expression
    assert (f'monitored_resource="{kind}"' in expression) == (kind is not None)


def test_the_load_balancer_of_an_existing_network_is_found_by_that_networks_name(make_stack: MakeStack) -> None:
    stack = make_stack(network={"existing": {"network": "shared-vpc", "subnet": "nodes"}, "proxies": "10.9.0.0/23"})
    assert 'network_name="shared-vpc",region="us-east5"' in named(stack, "gateway-answers").queries[0].promql


@pytest.mark.parametrize(("seconds", "window"), [(5, "[5m]"), (30, "[5m]"), (90, "[6m]"), (100, "[400s]")])
def test_a_rate_covers_four_scrapes_and_five_minutes_at_least(make_stack: MakeStack, seconds: int, window: str) -> None:
    stack = make_stack(monitoring={"intervalSeconds": seconds})
    assert window in named(stack, "requests").queries[0].promql


def test_a_token_is_priced_by_the_chips_of_the_models_own_replicas(make_stack: MakeStack) -> None:
    pools = [
        {"name": "one", "machineType": "ct6e-standard-1t", "topology": "1x1", "maxNodes": 9},
        {"name": "four", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 9},
    ]
    models = [{"name": f"on-{pool}", "uri": "hf://Qwen/Qwen3-4B", "pool": pool} for pool in ("one", "four")]
    stack = make_stack(pools=pools, models=models)
    one, four = (query.promql for query in named(stack, "price").queries)
    assert 'model="on-one"}) * 2.7 *' in one
    assert 'model="on-four"}) * 10.8 *' in four


def test_a_stopped_model_and_one_without_a_public_price_have_no_price(make_stack: MakeStack) -> None:
    model = {"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e1"}
    assert "price" not in {panel.key for panel in panels(make_stack(models=[{**model, "stopped": True}]))}
    flex = [
        {"name": "v6e1", "machineType": "ct6e-standard-1t", "topology": "1x1", "maxNodes": 9, "capacity": "flex-start"}
    ]
    assert "price" not in {panel.key for panel in panels(make_stack(pools=flex))}


def test_the_state_of_slices_is_shown_where_they_have_several_hosts(
    make_stack: MakeStack, stack: StackSettings
) -> None:
    assert "pool-status" not in {panel.key for panel in panels(stack)}
    pools = [{"name": "big", "machineType": "ct6e-standard-4t", "topology": "4x4", "minNodes": 4, "maxNodes": 4}]
    models = [
        {
            "name": "qwen",
            "uri": "hf://Qwen/Qwen3-4B",
            "pool": "big",
            "experimentalMultiHost": True,
            "pipelineParallel": 4,
        }
    ]
    expression = named(make_stack(pools=pools, models=models), "pool-status").queries[0].promql
    assert 'node_pool_name="big"' in expression


def test_only_a_front_door_that_is_measured_has_panels_of_callers(make_stack: MakeStack) -> None:
    door = {"callers": [{"name": "team-a"}]}
    with_door = make_stack(gateway={"exposure": "internal"}, frontDoor=door)
    unread = make_stack(gateway={"exposure": "internal"}, frontDoor=door, monitoring={"scrape": False})
    shown = [
        [panel.key for panel in panels(one) if panel.key.startswith("caller-")]
        for one in (with_door, make_stack(), unread)
    ]
    assert shown == [["caller-requests", "caller-tokens"], [], []]
    (query,) = named(with_door, "caller-tokens").queries
    assert LABEL.findall(query.legend) == ["caller", "gen_ai_request_model"]
    assert query.promql.startswith("sum by (caller, gen_ai_request_model) (rate(gen_ai_client_token_usage_sum{")
