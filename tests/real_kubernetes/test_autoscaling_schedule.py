"""Working hours on the clock of this machine: a model goes to zero at their end, and comes back at their beginning."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from llmd_gke.rules import schedule
from tests.real_kubernetes import models, objects
from tests.real_kubernetes.autoscaling import (
    DEPLOYMENT,
    SCALE_SECONDS,
    deployment,
    nodes,
    patched,
)
from tests.real_kubernetes.harness import Laptop, until
from tests.real_kubernetes.working_hours import around_noon, hours

FIRST = timedelta(minutes=3)
"""Until the end of the first hours: `make up` brings the schedule meanwhile."""
NIGHT = timedelta(minutes=5)
"""Longer than it takes until the host has gone too."""
DAY = timedelta(minutes=30)
COOLDOWN_SECONDS = 5
"""Without requests, before the last server goes; the program's is 300."""

_ASK = """
import sys, httpx
body = {"model": sys.argv[2], "messages": [{"role": "user", "content": "hello"}], "max_tokens": 1}
with httpx.Client(trust_env=False, timeout=30) as client:
    print(client.post(sys.argv[1].removesuffix("/v1") + "/v1/chat/completions", json=body).status_code)
"""


def status(laptop: Laptop) -> int:
    """The status of a request."""
    return int(laptop.python(_ASK, *models.endpoint(laptop)).stdout)


@pytest.mark.parametrize("hour", range(24))
def test_it_is_noon_in_the_time_zone_of_the_test(hour: int) -> None:
    now = datetime(2026, 3, 4, hour, 30, tzinfo=UTC)
    zone, there = around_noon(now)
    assert there.hour == 12
    assert schedule.is_open(zone, [hours(there, there + DAY)], now)
    assert not schedule.is_open(zone, [hours(there + FIRST, there + DAY)], now)


@contextmanager
def scheduled(laptop: Laptop, zone: str, working: list[str]) -> Generator[None]:
    """The model has these hours meanwhile; afterwards it has a server, also where a test has failed at night.

    Without any server KEDA has no number, and without hours it would start none.
    """

    def change(config: dict[str, Any]) -> None:
        models.first(config)["schedule"] = {"timeZone": zone, "hours": working}

    with models.changed(laptop):
        try:
            laptop.edit("local", change)
            laptop.up()
            yield
        finally:
            laptop.kubectl("scale", "deployment", DEPLOYMENT, "-n", objects.MODELS, "--replicas=1")
            models.ready_servers(laptop, 1)


def test_a_model_goes_to_zero_at_the_end_of_its_hours_and_comes_back_at_their_beginning(scaled: Laptop) -> None:
    zone, there = around_noon(datetime.now(UTC))
    end = there + FIRST
    working = [hours(there, end), hours(end + NIGHT, end + NIGHT + DAY)]
    with scheduled(scaled, zone, working), patched(scaled, cooldownPeriod=COOLDOWN_SECONDS):
        (server,) = models.ready_servers(scaled, 1)
        assert status(scaled) == 200
        until(lambda: not models.servers(scaled), "no server at the end of the hours", SCALE_SECONDS)
        assert not schedule.is_open(zone, working, datetime.now(UTC)), "it stays until then, though nobody asks"
        assert deployment(scaled)["spec"]["replicas"] == 0
        until(lambda: status(scaled) == 503, "the picker's answer without servers", 60)
        until(lambda: not nodes(scaled), "no TPU node", NIGHT.seconds)

        morning = NIGHT.seconds + SCALE_SECONDS
        until(lambda: models.servers(scaled), "a server at the beginning of the hours", morning)
        (later,) = models.ready_servers(scaled, 1)
        assert schedule.is_open(zone, working, datetime.now(UTC)), "not before the hours begin"
        assert objects.name(later) != objects.name(server)
        until(lambda: status(scaled) == 200, "an answer", 60)
