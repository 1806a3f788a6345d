"""A model behind the front door goes to zero: what its callers get then, and who starts it again.

Skipped where the front door's programs or KEDA are not built: ``.ci/full scale_to_zero`` builds them.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from llmd_gke.catalog.scaling import SHORTEST_IDLE_SECONDS
from llmd_gke.settings.secret_keys import stand_in_key
from localcloud.cluster import autoscaling as keda
from localcloud.monitoring import options
from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.autoscaling import (
    COOLDOWN_SECONDS,
    SCALE_SECONDS,
    SCALED_OBJECT,
    patched,
    shorter_idle_time,
)
from localcloud.tests.real_kubernetes.front_door import STACK, base, keyed, stack_up
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.programs import skip_unless_built
from localcloud.tests.real_kubernetes.prometheus import FASTER
from localcloud.tests.real_kubernetes.serving import ask, chat
from localcloud.tests.real_kubernetes.working_hours import around_noon, hours

TEAM_A, BATCH, NOBODY = stand_in_key("team-a"), stand_in_key("batch"), "nobody-has-this-key-0123456789abcdef"
"""Only ``team-a`` may use the model ``small``."""
NAMESPACE, SCALER = "others", "small-replicas"
IN_QUEUE_SECONDS = 60
"""For which the endpoint picker keeps a request that no server takes (``LONGEST_WAIT`` in the manifests)."""


def idle(config: dict[str, Any]) -> None:
    """The model ``small`` may be idle."""
    config["llmd-gke:pools"][0]["maxNodes"] = 6
    (small,) = [model for model in config["llmd-gke:models"] if model["name"] == "small"]
    small |= {"minReplicas": 1, "maxReplicas": 2, "scaling": {"idleAfterSeconds": SHORTEST_IDLE_SECONDS}}


def at_night(config: dict[str, Any]) -> None:
    """The model ``small`` is outside of its hours, and no request starts it."""
    idle(config)
    (small,) = [model for model in config["llmd-gke:models"] if model["name"] == "small"]
    zone, there = around_noon(datetime.now(UTC))
    small |= {
        "scaling": {},
        "schedule": {"timeZone": zone, "hours": [hours(there + timedelta(hours=6), there.replace(hour=23))]},
    }


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    skip_unless_built(keda.PROGRAMS)
    variables = {options.VARIABLE: str(FASTER), "LLMD_GKE_SCALE_DOWN_SECONDS": "15"}
    with stack_up(tmp_path_factory.mktemp("door-idle"), idle, **variables) as made:
        yield made


def answer(stack: Laptop, model: str, key: str = TEAM_A) -> dict[str, Any]:
    """The door's answer to one request, which may wait in the picker's queue."""
    request = keyed(chat("hello", model=model, max_tokens=1), key)
    (came,) = ask(stack, base(stack), request, seconds=2 * IN_QUEUE_SECONDS)
    return came


def servers(stack: Laptop) -> list[objects.Object]:
    """The pods of ``small``, without those that are going."""
    pods = objects.pods_of(stack, "small-kserve", NAMESPACE)
    return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]


@contextmanager
def quick(stack: Laptop, **fields: Any) -> Generator[None]:
    """The ScaledObject of ``small`` acts within seconds."""
    with patched(stack, SCALED_OBJECT, SCALER, namespace=NAMESPACE, cooldownPeriod=COOLDOWN_SECONDS, **fields):
        yield


def is_in_openais_form(came: dict[str, Any]) -> bool:
    """The door's answer for a model without a server: the client may come back."""
    error = json.loads(came["text"])["error"]
    seen = came["status"], came["headers"].get("retry-after"), error["type"], error["code"]
    return seen == (503, "10", "server_error", "service_unavailable")


def test_a_request_through_the_door_starts_an_idle_model_and_refused_callers_do_not(stack: Laptop) -> None:
    until(lambda: answer(stack, "small")["status"] == 200, "an answer", SCALE_SECONDS)
    with quick(stack, triggers=shorter_idle_time(stack, SCALER, NAMESPACE)["triggers"]):
        until(lambda: not servers(stack), "no server after the idle time", SCALE_SECONDS)
        assert answer(stack, "small", NOBODY)["status"] == 401
        assert answer(stack, "small", BATCH)["status"] == 403
        assert answer(stack, "qwen")["status"] == 200
        assert servers(stack) == []

        came = answer(stack, "small")
        assert is_in_openais_form(came), came
        until(lambda: servers(stack), "a server after the request", SCALE_SECONDS)
        until(lambda: answer(stack, "small")["status"] == 200, "an answer", SCALE_SECONDS)


def test_outside_of_its_hours_callers_are_told_to_come_back_and_start_nothing(stack: Laptop) -> None:
    stack.edit(STACK, at_night)
    stack.up(STACK)
    with quick(stack):
        until(lambda: not servers(stack), "no server at night", SCALE_SECONDS)
        for _ in range(2):
            came = answer(stack, "small")
            assert is_in_openais_form(came), came
        assert servers(stack) == []
        assert answer(stack, "qwen")["status"] == 200
