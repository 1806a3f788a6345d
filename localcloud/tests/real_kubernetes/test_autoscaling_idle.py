"""A model without requests goes to zero, and the next request brings it back: KEDA asks the real endpoint picker."""

from __future__ import annotations

from typing import Any

from llmd_gke.catalog.scaling import SHORTEST_IDLE_SECONDS
from localcloud.tests.real_kubernetes import models, objects
from localcloud.tests.real_kubernetes.autoscaling import (
    SCALE_SECONDS,
    UNCHANGED,
    deployment,
    may_have_no_server,
    nodes,
    patched,
    shorter_idle_time,
    status,
)
from localcloud.tests.real_kubernetes.harness import Laptop, until


def idle(model: dict[str, Any]) -> None:
    """The settings of a model that may be idle."""
    model["scaling"]["idleAfterSeconds"] = SHORTEST_IDLE_SECONDS


def test_an_idle_model_has_no_server_until_one_request_starts_it(scaled: Laptop) -> None:
    with may_have_no_server(scaled, idle), patched(scaled, **shorter_idle_time(scaled)):
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

        # By hand, for when no request does it (docs/scaling.md).
        annotate = ("-n", objects.MODELS, "annotate", "scaledobject", "qwen-replicas")
        scaled.kubectl(*annotate, "autoscaling.keda.sh/force-activation=true")
        models.ready_servers(scaled, 1)
        scaled.kubectl(*annotate, "autoscaling.keda.sh/force-activation-")
        until(lambda: not models.servers(scaled), "no server after the idle time", SCALE_SECONDS)

        assert status(scaled) == 503
        (later,) = models.ready_servers(scaled, 1)
        assert objects.name(later) != objects.name(server)
        until(lambda: status(scaled) == 200, "an answer", 60)
