"""Hosts in the timeline: those that start with a pool, that a Job asks for, and that a model's own pod waits for."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from llmd_gke.catalog import durations
from llmd_gke.graph.resources import Graph
from llmd_gke.settings import StackSettings, load_stack, parse
from llmd_gke.settings.load import read_config
from llmd_gke.settings.validation import CLOUD_VARIABLE
from operations.timeline.measured import measure
from operations.timeline.simulate import (
    Timeline,
    TimelineStep,
    first_token_by_capacity,
    seconds_from_zero,
    seconds_to_wake,
    simulate,
)
from tests.graphs import load
from tests.operations.support import ROOT

ORDERED = [{"kind": "on-demand"}, {"kind": "spot"}]


@pytest.fixture(autouse=True)
def rehearsal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CLOUD_VARIABLE, "rehearsal")


def with_pool(*models: dict[str, object], **pool: object) -> tuple[Graph, StackSettings]:
    """The graph and the settings of ``eu4a``, in a zone that has every capacity, with these changes to its pool, and
    its model once with each of these changes.
    """
    config: dict[str, Any] = dict(read_config(ROOT, "eu4a"))
    (first,), (model,) = config["llmd-gke:pools"], config["llmd-gke:models"]
    changes = {
        "llmd-gke:cluster": {**config["llmd-gke:cluster"], "zone": "us-east5-a"},
        "llmd-gke:pools": [{**first, "earlyHosts": 0, **pool}],
        "llmd-gke:models": [{**model, **one} for one in models or ({},)],
    }
    return load(ROOT, "eu4a", changes=changes), parse({**config, **changes}, "eu4a").settings


def steps_of(timeline: Timeline) -> dict[str, TimelineStep]:
    return {step.name: step for step in timeline.steps}


def hosts_in(steps: Iterable[str]) -> set[str]:
    return {name for name in steps if name.endswith("/host")}


def test_hosts_that_pods_ask_for_start_beside_the_platform_and_the_update_does_not_wait_for_them() -> None:
    timeline = simulate(*with_pool(earlyHosts=1, capacity=ORDERED))
    steps = steps_of(timeline)
    host, service, image = (steps[name] for name in ("v6e4-early-job/host", "qwen-service", "qwen-service/image"))
    assert host.start < steps["platform-kserve-llmisvc-resources"].start
    assert service.end < host.end
    assert image.start == host.end
    assert host in timeline.chain
    assert "qwen-service/host" not in steps


def test_hosts_that_a_pool_always_keeps_start_with_it() -> None:
    steps = steps_of(simulate(load(ROOT, "prod"), load_stack(ROOT, "prod").settings))
    host = steps["v6e1-nodes/host"]
    assert (host.start, host.seconds) == (steps["v6e1-nodes"].end, durations.HOST_FROM_ZERO.seconds)
    assert host.start < steps["platform-kserve-llmisvc-resources"].end
    assert steps["qwen-service"].start >= host.end
    assert hosts_in(steps) == {"v6e1-nodes/host"}
    assert steps["qwen-service/image"].start == steps["qwen-service"].end


@pytest.mark.parametrize(
    ("pool", "hosts"),
    [
        ({"capacity": "flex-start", "minNodes": 1, "earlyHosts": 1}, {"v6e4-nodes/host"}),
        (
            {"capacity": [{"kind": "on-demand", "minNodes": 1}, {"kind": "spot"}], "earlyHosts": 2},
            {"v6e4-on-demand-nodes/host", "v6e4-early-job/host"},
        ),
    ],
    ids=["flex-start", "list"],
)
def test_pods_of_a_job_take_hosts_that_are_kept_before_they_ask_for_more(
    pool: dict[str, object], hosts: set[str]
) -> None:
    steps = steps_of(simulate(*with_pool(**pool)))
    assert "v6e4-early-job" in steps
    assert hosts_in(steps) == hosts
    assert steps["qwen-service/image"].start == steps["qwen-service"].end, "a host that is kept is the model's"


@pytest.mark.parametrize(("kept", "waiting"), [(1, {"qwen", "other"}), (2, {"other"})])
def test_a_model_whose_neighbours_may_take_every_host_that_is_kept_starts_one(kept: int, waiting: set[str]) -> None:
    models: list[dict[str, object]] = [{"replicas": 2}, {"name": "other", "replicas": 1}]
    steps = steps_of(simulate(*with_pool(*models, minNodes=kept)))
    assert hosts_in(steps) == {"v6e4-nodes/host"} | {f"{model}-service/host" for model in waiting}


@pytest.mark.parametrize("pool", [{"capacity": "flex-start", "earlyHosts": 1, "minNodes": 1}, {}], ids=str)
def test_an_update_that_goes_as_simulated_takes_what_is_expected_of_each_step(pool: dict[str, object]) -> None:
    graph, settings = with_pool(**pool)
    timeline = simulate(graph, settings)
    ends: dict[str, float] = {}
    for step in timeline.steps:
        if not step.name.endswith(("/policy", "-early-job/host")):
            name = step.name.partition("/")[0]
            ends[name] = max(ends.get(name, 0), step.end)
    begin = datetime(2026, 11, 23, 12, tzinfo=UTC)
    created = {
        (node.type, node.name): begin + timedelta(seconds=ends[node.name])
        for node in graph.nodes.values()
        if node.name in ends
    }
    result = measure(graph, timeline, {("pulumi:pulumi:Stack", "llmd-gke-eu4a"): begin, **created})
    assert {step.name for step in result.steps} == set(ends)
    assert [step.measured for step in result.steps] == pytest.approx([step.expected for step in result.steps], abs=0.01)


def test_a_model_without_servers_needs_no_other_host_than_its_pool_always_keeps() -> None:
    settings = load_stack(ROOT, "prod").settings
    (model,), (pool,) = settings.models, settings.pools
    empty = settings.model_copy(update={"pools": (pool.model_copy(update={"min_nodes": 0, "early_hosts": 1}),)})
    host = durations.HOST_FROM_ZERO.seconds
    assert seconds_from_zero(model, empty) - seconds_from_zero(model, settings) == pytest.approx(host)
    assert seconds_to_wake(model, empty) - seconds_to_wake(model, settings) == pytest.approx(host)


def test_a_list_of_capacities_has_a_time_for_each_of_its_node_pools() -> None:
    graph, settings = with_pool(
        capacity=[{"kind": "reservation", "reservation": {"name": "ours"}}, {"kind": "on-demand"}]
    )
    first, second = first_token_by_capacity(graph, settings)["qwen"].items()
    assert (first[0], second[0]) == tuple(pool.name for pool in settings.pools[0].node_pools)
    assert first[1] == simulate(graph, settings).first_token["qwen"]
    assert second[1] - first[1] == pytest.approx(durations.HOST_FROM_ZERO.seconds - durations.HOST_RESERVED.seconds)
    asked = first_token_by_capacity(graph, settings, {"host": 60})["qwen"]
    assert len(set(asked.values())) == 1, "the duration that was asked for counts for all"
