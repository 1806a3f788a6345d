"""Replicas follow the load: the real autoscaler with KEDA and Prometheus, on real queues of simulated servers.

The tests follow each other: the first ones find one replica, and leave one.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from localcloud.tests.real_kubernetes import models, objects
from localcloud.tests.real_kubernetes.autoscaling import (
    DEPLOYMENT,
    FEWEST,
    MOST,
    NAME,
    SCALE_SECONDS,
    SCALED_OBJECT,
    STREAMS,
    UNCHANGED,
    Streams,
    autoscaler,
    await_replicas,
    back_to_one,
    labels,
    nodes,
    patched,
    quick_down,
    rescales,
    streams,
)
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.models import servers, service
from localcloud.tests.real_kubernetes.small_cluster import ZONE

ROUNDS = 10
"""Of the streams, for a long run: one takes at least nine seconds."""
COMPONENT = "kserve.io/component"
"""A label that KServe gives to Deployments, and not one by which it selects what it sees."""


def test_the_conditions_that_up_waits_for_are_true_after_the_first_up(scaled: Laptop) -> None:
    scaled_object = scaled.get(SCALED_OBJECT, NAME, "-n", objects.MODELS)
    assert objects.condition(scaled_object, "Ready") == "True", objects.why(scaled_object)
    assert objects.condition(scaled_object, "Active") == "True", objects.why(scaled_object)
    assert objects.condition(service(scaled), "RouterReady") == "True", objects.why(service(scaled))
    until(lambda: objects.condition(autoscaler(scaled), "ScalingActive") == "True", "ScalingActive", 90)
    assert objects.condition(autoscaler(scaled), "AbleToScale") == "True"


def test_replicas_follow_a_queue_and_hold_until_fewer_are_enough_without_a_lost_stream(
    scaled: Laptop, tmp_path: Path
) -> None:
    await_replicas(scaled, FEWEST)
    with back_to_one(scaled), streams(scaled, tmp_path / "streams.jsonl", STREAMS) as load:
        await_replicas(scaled, MOST)
        until(lambda: len(nodes(scaled)) == MOST, "a node for each replica", SCALE_SECONDS)
        until(lambda: objects.condition(autoscaler(scaled), "ScalingLimited") == "True", "the maximum", 120)
        assert objects.condition(autoscaler(scaled), "ScalingActive") == "True"
        before, pods, ended = rescales(scaled), objects.names(servers(scaled)), len(load.ended())

        # What KServe puts back shows that it has written the Deployment after its restart, its replicas with it.
        scaled.kubectl("delete", "pod", "-n", "kserve", "-l", "control-plane=llmisvc-controller-manager")
        scaled.kubectl("label", "deployment", DEPLOYMENT, "-n", objects.MODELS, "--overwrite", f"{COMPONENT}=other")
        until(lambda: labels(scaled).get(COMPONENT) == "workload", "KServe writes the Deployment", 120)
        until(lambda: len(load.ended()) >= ended + ROUNDS * STREAMS, f"{ROUNDS} rounds of streams", 900)
        assert rescales(scaled) == before, "a constant load does not make the number swing"
        assert objects.names(servers(scaled)) == pods

        triggers = scaled.get(SCALED_OBJECT, NAME, "-n", objects.MODELS)["spec"]["triggers"]
        for trigger in triggers:
            trigger["metadata"]["threshold"] = "1000"  # one replica is enough now, under the same load
        with patched(scaled, triggers=triggers, advanced=quick_down(scaled)):
            await_replicas(scaled, FEWEST)
            ended = len(load.ended())
            until(lambda: len(load.ended()) >= ended + STREAMS, "a round of streams on one replica", SCALE_SECONDS)
    assert load.broken() == []
    until(lambda: len(nodes(scaled)) == FEWEST, "the nodes follow", SCALE_SECONDS)


@contextmanager
def without_a_host(laptop: Laptop, file: Path) -> Generator[Streams]:
    """The first replica serves the streams meanwhile, and there is no host for another one."""
    with back_to_one(laptop):
        until(lambda: len(nodes(laptop)) == FEWEST, "one node is left", SCALE_SECONDS)
        laptop.emulator_faults({"fault": "stockout", "zone": ZONE})
        try:
            with streams(laptop, file, STREAMS) as load:
                until(lambda: len(servers(laptop)) > FEWEST, "a replica without a host", SCALE_SECONDS)
                yield load
        finally:
            laptop.emulator_faults()


def waits_for_a_host(laptop: Laptop) -> bool:
    """Whether pods are pending and only the first one serves, so that the service is not Ready."""
    pods = servers(laptop)
    phases = [pod["status"]["phase"] for pod in pods if not objects.is_ready(pod)]
    return (
        set(phases) == {"Pending"}
        and len(pods) - len(phases) == FEWEST
        and objects.condition(service(laptop), "Ready") == "False"
    )


def test_while_a_zone_has_no_hosts_the_others_serve_and_the_rest_comes_with_them(
    scaled: Laptop, tmp_path: Path
) -> None:
    with without_a_host(scaled, tmp_path / "streams.jsonl") as load:
        before = len(load.ended())
        until(lambda: len(load.ended()) >= before + STREAMS, "answers meanwhile", SCALE_SECONDS)
        assert objects.condition(autoscaler(scaled), "ScalingActive") == "True"
        assert sum(objects.is_ready(pod) for pod in servers(scaled)) == FEWEST
        scaled.emulator_faults()
        await_replicas(scaled, MOST)
    assert load.broken() == []


def test_preview_up_and_refresh_change_nothing_and_end_while_a_replica_waits_for_a_host(
    scaled: Laptop, tmp_path: Path
) -> None:
    with without_a_host(scaled, tmp_path / "streams.jsonl") as load:
        until(lambda: waits_for_a_host(scaled), "the service is not Ready", SCALE_SECONDS)
        previewed = scaled.preview().stdout
        assert UNCHANGED.search(previewed), previewed
        scaled.pulumi("refresh", "--yes", "--expect-no-changes", "--stack", "local")
        again = scaled.up().stdout
        assert UNCHANGED.search(again), again
        refreshed = scaled.pulumi("preview", "--refresh", "--expect-no-changes", "--stack", "local").stdout
        assert UNCHANGED.search(refreshed), refreshed
        assert waits_for_a_host(scaled), objects.why(service(scaled))
    assert load.broken() == []


def test_an_update_of_the_service_ends_while_a_replica_waits_for_a_host(scaled: Laptop, tmp_path: Path) -> None:
    def change(config: dict[str, Any]) -> None:
        models.first(config)["scheduler"] = {"profile": "queue-and-prefix"}

    # The change is taken back after the streams: `make up` ends with a request, which would wait behind them.
    with models.changed(scaled), without_a_host(scaled, tmp_path / "streams.jsonl"):
        until(lambda: waits_for_a_host(scaled), "the service is not Ready", SCALE_SECONDS)
        before = service(scaled)["metadata"]["generation"]
        scaled.edit("local", change)
        scaled.up()
        assert service(scaled)["metadata"]["generation"] > before
        assert waits_for_a_host(scaled), objects.why(service(scaled))
