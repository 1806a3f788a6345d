"""Numbers that are missing are not zero: nobody removes replicas because their load cannot be read.

While there are no numbers the autoscaler may remove a replica every 15 s, and is asked often enough to remove all but
one: what keeps them is that it has no number, not that it waits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.autoscaling import (
    MOST,
    SCALE_SECONDS,
    STREAMS,
    autoscaler,
    await_replicas,
    back_to_one,
    deployment,
    evaluations_without_numbers,
    nothing_collected,
    patched,
    quick_down,
    rescales,
    streams,
)
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.models import servers

FROZEN_SECONDS = 300 + SCALE_SECONDS
"""Until the last number is forgotten: a Prometheus that scrapes a target no more gives it for five minutes."""
EVALUATIONS = 6
"""Of the autoscaler, every 15 s."""
ADAPTER = "keda-operator-metrics-apiserver"


@contextmanager
def without_adapter(laptop: Laptop) -> Generator[None]:
    """KEDA's server of the metrics API is gone meanwhile."""
    laptop.kubectl("scale", "deployment", ADAPTER, "-n", "keda", "--replicas=0")
    try:
        yield
    finally:
        laptop.kubectl("scale", "deployment", ADAPTER, "-n", "keda", "--replicas=1")


def keeps_its_number(laptop: Laptop, without: Callable[[Laptop], AbstractContextManager[None]]) -> None:
    """Fails if the number of replicas changes while there are no numbers."""
    until(lambda: objects.condition(autoscaler(laptop), "ScalingActive") == "True", "numbers", SCALE_SECONDS)
    before, pods = rescales(laptop), objects.names(servers(laptop))
    with without(laptop):
        until(lambda: objects.condition(autoscaler(laptop), "ScalingActive") == "False", "no numbers", FROZEN_SECONDS)
        seen = evaluations_without_numbers(laptop)
        until(
            lambda: evaluations_without_numbers(laptop) >= seen + EVALUATIONS,
            f"{EVALUATIONS} evaluations",
            SCALE_SECONDS,
        )
        assert deployment(laptop)["spec"]["replicas"] == MOST
    assert rescales(laptop) == before
    assert objects.names(servers(laptop)) == pods


def test_replicas_stay_while_nothing_is_collected_and_while_the_adapter_is_gone(scaled: Laptop, tmp_path: Path) -> None:
    with back_to_one(scaled):
        with streams(scaled, tmp_path / "streams.jsonl", STREAMS) as load:
            await_replicas(scaled, MOST)
            with patched(scaled, advanced=quick_down(scaled)):
                keeps_its_number(scaled, nothing_collected)
                keeps_its_number(scaled, without_adapter)
            until(lambda: objects.condition(autoscaler(scaled), "ScalingActive") == "True", "numbers", SCALE_SECONDS)
        assert load.broken() == []
