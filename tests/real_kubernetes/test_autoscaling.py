"""Replicas follow the load: the real autoscaler with KEDA and Prometheus, on real queues of simulated servers.

The tests follow each other: the first ones find one replica, and leave one.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.real_kubernetes import objects
from tests.real_kubernetes.autoscaling import (
    DEPLOYMENT,
    FEWEST,
    MOST,
    NAME,
    SCALE_SECONDS,
    SCALED_OBJECT,
    STREAMS,
    autoscaler,
    await_replicas,
    back_to_one,
    deployment,
    labels,
    nodes,
    patched,
    quick_down,
    rescales,
    streams,
)
from tests.real_kubernetes.harness import Laptop, until
from tests.real_kubernetes.models import servers, service
from tests.real_kubernetes.small_cluster import ZONE

ROUNDS = 10
"""Of the streams, for a long run: one takes at least nine seconds."""
COMPONENT = "kserve.io/component"
"""A label that KServe gives to Deployments, and not one by which it selects what it sees."""
UNCHANGED = re.compile(r"^Resources:\n +\d+ unchanged$", re.MULTILINE)


def test_the_conditions_that_up_waits_for_are_true_after_the_first_up(scaled: Laptop) -> None:
    scaled_object = scaled.get(SCALED_OBJECT, NAME, "-n", objects.MODELS)
    assert objects.condition(scaled_object, "Ready") == "True", objects.why(scaled_object)
    assert objects.condition(scaled_object, "Active") == "True", objects.why(scaled_object)
    assert objects.condition(service(scaled), "RouterReady") == "True", objects.why(service(scaled))
    until(lambda: objects.condition(autoscaler(scaled), "ScalingActive") == "True", "ScalingActive", 90)
    assert objects.condition(autoscaler(scaled), "AbleToScale") == "True"


def test_replicas_and_nodes_follow_a_queue_up_to_the_maximum_and_down_again(scaled: Laptop, tmp_path: Path) -> None:
    await_replicas(scaled, FEWEST)
    with back_to_one(scaled):
        with streams(scaled, tmp_path / "streams.jsonl", STREAMS) as load:
            await_replicas(scaled, MOST)
            until(lambda: len(nodes(scaled)) == MOST, "a node for each replica", SCALE_SECONDS)
            until(lambda: objects.condition(autoscaler(scaled), "ScalingLimited") == "True", "the maximum", 120)
            assert objects.condition(autoscaler(scaled), "ScalingActive") == "True"
            assert len(servers(scaled)) == MOST
        assert load.broken() == []
    until(lambda: len(nodes(scaled)) == FEWEST, "the nodes follow", SCALE_SECONDS)


def test_preview_up_and_refresh_change_nothing_while_there_are_more_replicas(scaled: Laptop, tmp_path: Path) -> None:
    with back_to_one(scaled):
        with streams(scaled, tmp_path / "streams.jsonl", STREAMS) as load:
            await_replicas(scaled, MOST)
            previewed = scaled.preview().stdout
            assert UNCHANGED.search(previewed), previewed
            scaled.pulumi("refresh", "--yes", "--expect-no-changes", "--stack", "local")
            again = scaled.up().stdout
            assert UNCHANGED.search(again), again
            assert len(servers(scaled)) == MOST
        assert load.broken() == []


def test_a_restart_of_kserve_leaves_the_number_alone(scaled: Laptop, tmp_path: Path) -> None:
    with back_to_one(scaled):
        with streams(scaled, tmp_path / "streams.jsonl", STREAMS) as load:
            await_replicas(scaled, MOST)
            before, pods = rescales(scaled), objects.names(servers(scaled))
            scaled.kubectl("delete", "pod", "-n", "kserve", "-l", "control-plane=llmisvc-controller-manager")
            # What KServe puts back shows that it has written the Deployment since then, its replicas with it.
            scaled.kubectl("label", "deployment", DEPLOYMENT, "-n", objects.MODELS, "--overwrite", f"{COMPONENT}=other")
            until(lambda: labels(scaled).get(COMPONENT) == "workload", "KServe writes the Deployment", 120)
            assert deployment(scaled)["spec"]["replicas"] == MOST
            assert objects.names(servers(scaled)) == pods
            assert rescales(scaled) == before
        assert load.broken() == []


def test_while_a_zone_has_no_hosts_the_others_serve_and_the_rest_comes_with_them(
    scaled: Laptop, tmp_path: Path
) -> None:
    with back_to_one(scaled):
        until(lambda: len(nodes(scaled)) == FEWEST, "one node is left", SCALE_SECONDS)
        scaled.emulator_faults({"fault": "stockout", "zone": ZONE})
        try:
            with streams(scaled, tmp_path / "streams.jsonl", STREAMS) as load:
                until(lambda: len(servers(scaled)) > FEWEST, "a replica without a host", SCALE_SECONDS)
                before = len(load.ended())
                until(lambda: len(load.ended()) >= before + STREAMS, "answers meanwhile", SCALE_SECONDS)
                assert objects.condition(autoscaler(scaled), "ScalingActive") == "True"
                assert sum(objects.is_ready(pod) for pod in servers(scaled)) == FEWEST
                scaled.emulator_faults()
                await_replicas(scaled, MOST)
            assert load.broken() == []
        finally:
            scaled.emulator_faults()


def test_a_constant_load_does_not_make_the_number_swing(scaled: Laptop, tmp_path: Path) -> None:
    with back_to_one(scaled), streams(scaled, tmp_path / "streams.jsonl", STREAMS) as load:
        await_replicas(scaled, MOST)
        before, ended = rescales(scaled), len(load.ended())
        until(lambda: len(load.ended()) >= ended + ROUNDS * STREAMS, f"{ROUNDS} rounds of streams", 900)
        assert rescales(scaled) == before
        assert len(servers(scaled)) == MOST


def test_fewer_replicas_lose_no_stream(scaled: Laptop, tmp_path: Path) -> None:
    with back_to_one(scaled), streams(scaled, tmp_path / "streams.jsonl", STREAMS) as load:
        await_replicas(scaled, MOST)
        triggers = scaled.get(SCALED_OBJECT, NAME, "-n", objects.MODELS)["spec"]["triggers"]
        for trigger in triggers:
            trigger["metadata"]["threshold"] = "1000"  # one replica is enough now, under the same load
        with patched(scaled, triggers=triggers, advanced=quick_down(scaled)):
            await_replicas(scaled, FEWEST)
            before = len(load.ended())
            until(lambda: len(load.ended()) >= before + STREAMS, "a round of streams on one replica", SCALE_SECONDS)
    assert load.broken() == []
