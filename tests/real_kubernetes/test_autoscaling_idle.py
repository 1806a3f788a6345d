"""A model without requests goes to zero, and the next request brings it back: KEDA asks the real endpoint picker."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from llmd_gke.catalog.scaling import SHORTEST_IDLE_SECONDS
from tests.real_kubernetes import models, objects
from tests.real_kubernetes.autoscaling import (
    DEPLOYMENT,
    SCALE_SECONDS,
    UNCHANGED,
    deployment,
    nodes,
    patched,
    shorter_idle_time,
)
from tests.real_kubernetes.harness import Laptop, until
from tests.real_kubernetes.serving import ask, chat


@contextmanager
def idle(laptop: Laptop) -> Generator[None]:
    """The model may be idle meanwhile; afterwards it has a server, also where a test has failed without one."""

    def change(config: dict[str, Any]) -> None:
        models.first(config)["scaling"]["idleAfterSeconds"] = SHORTEST_IDLE_SECONDS

    with models.changed(laptop):
        try:
            laptop.edit("local", change)
            laptop.up()
            yield
        finally:
            # Without any server KEDA has no number, and without the trigger for requests it would start none.
            laptop.kubectl("scale", "deployment", DEPLOYMENT, "-n", objects.MODELS, "--replicas=1")
            models.ready_servers(laptop, 1)


def status(laptop: Laptop) -> int:
    """The status of one request to the model's own address."""
    url, name = models.endpoint(laptop)
    (answer,) = ask(laptop, url.removesuffix("/v1"), chat("hello", model=name, max_tokens=1))
    return answer["status"]


def test_an_idle_model_has_no_server_until_one_request_starts_it(scaled: Laptop) -> None:
    with idle(scaled), patched(scaled, **shorter_idle_time(scaled)):
        (server,) = models.ready_servers(scaled, 1)
        assert status(scaled) == 200
        until(lambda: not models.servers(scaled), "no server after the idle time", SCALE_SECONDS)
        until(lambda: not nodes(scaled), "no TPU node", SCALE_SECONDS)
        assert deployment(scaled)["spec"]["replicas"] == 0

        previewed = scaled.preview().stdout
        assert UNCHANGED.search(previewed), previewed
        again = scaled.pulumi("up", "--yes", "--skip-preview", "--stack", "local").stdout
        assert UNCHANGED.search(again), again
        assert models.servers(scaled) == [], "an update starts none"

        assert status(scaled) == 503
        (later,) = models.ready_servers(scaled, 1)
        assert objects.name(later) != objects.name(server)
        until(lambda: status(scaled) == 200, "an answer", 60)
