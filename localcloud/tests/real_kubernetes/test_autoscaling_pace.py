"""The pace at which the shipped settings remove replicas: the other tests cannot wait for it, and shorten it.

The autoscaler's own conditions name what holds it back, and a light load measures for how long it does.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from localcloud.tests.real_kubernetes import models, objects
from localcloud.tests.real_kubernetes.autoscaling import (
    MOST,
    NAME,
    SCALE_SECONDS,
    SCALED_OBJECT,
    STREAMS,
    Streams,
    autoscaler,
    await_replicas,
    back_to_one,
    patched,
    rescales,
    streams,
)
from localcloud.tests.real_kubernetes.harness import Laptop, until

FEW = 5
"""Streams at once for which one replica is enough."""
ROUNDS = 10
"""Of the streams: one takes at least nine seconds. Together that is longer than the shortest window, 60 s."""
SHIPPED = {
    "scaleUp": {
        "stabilizationWindowSeconds": 60,
        "selectPolicy": "Max",
        "policies": [{"type": "Pods", "value": 1, "periodSeconds": 900}],
    },
    "scaleDown": {
        "stabilizationWindowSeconds": 1800,
        "selectPolicy": "Min",
        "policies": [{"type": "Pods", "value": 1, "periodSeconds": 600}],
    },
}
"""The behaviour of a model whose settings say nothing about it, as docs/scaling.md promises it."""


def shipped(config: dict[str, Any]) -> None:
    del models.first(config)["scaling"]


def quick_up(laptop: Laptop) -> dict[str, Any]:
    """``advanced`` of the ScaledObject with a replica more every 15 s instead of every quarter of an hour."""
    advanced = laptop.get(SCALED_OBJECT, NAME, "-n", objects.MODELS)["spec"]["advanced"]
    advanced["horizontalPodAutoscalerConfig"]["behavior"]["scaleUp"]["policies"][0]["periodSeconds"] = 15
    return advanced


@contextmanager
def most_replicas_and_few_streams(laptop: Laptop, folder: Path) -> Generator[Streams]:
    """There are more replicas at first than the load needs."""
    with streams(laptop, folder / "many.jsonl", STREAMS):
        await_replicas(laptop, MOST)
    with streams(laptop, folder / "few.jsonl", FEW) as load:
        yield load


def reason(laptop: Laptop, condition: str) -> str:
    """Why the autoscaler's condition is as it is."""
    return next(one["reason"] for one in autoscaler(laptop)["status"]["conditions"] if one["type"] == condition)


def keeps(laptop: Laptop, count: int, load: Streams, condition: str, because: str) -> None:
    """Fails if the number of replicas changes within ten rounds of streams, or the condition has no such reason."""
    until(lambda: reason(laptop, condition) == because, because, SCALE_SECONDS)
    before, ended = rescales(laptop), len(load.ended())
    until(lambda: len(load.ended()) >= ended + ROUNDS * FEW, f"{ROUNDS} rounds of streams", SCALE_SECONDS)
    assert reason(laptop, condition) == because, objects.why(autoscaler(laptop))
    assert rescales(laptop) == before
    assert len(models.ready_servers(laptop, count)) == count


def test_the_shipped_window_keeps_replicas_that_are_not_needed(scaled: Laptop, tmp_path: Path) -> None:
    with back_to_one(scaled), models.changed(scaled):
        scaled.edit("local", shipped)
        scaled.up()
        until(lambda: autoscaler(scaled)["spec"]["behavior"] == SHIPPED, "KEDA hands the behaviour on", 60)
        with (
            patched(scaled, advanced=quick_up(scaled)),
            most_replicas_and_few_streams(scaled, tmp_path) as load,
        ):
            assert autoscaler(scaled)["spec"]["behavior"]["scaleDown"] == SHIPPED["scaleDown"]
            keeps(scaled, MOST, load, "AbleToScale", "ScaleDownStabilized")
        assert load.broken() == []
