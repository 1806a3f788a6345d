"""Working hours on the clock of this machine: a model goes to zero at their end, and comes back at their beginning."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from llmd_gke.rules import schedule
from localcloud.tests.real_kubernetes import models, objects
from localcloud.tests.real_kubernetes.autoscaling import (
    COOLDOWN_SECONDS,
    SCALE_SECONDS,
    deployment,
    may_have_no_server,
    nodes,
    patched,
    status,
)
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.working_hours import around_noon, hours

FIRST = timedelta(minutes=3)
"""Until the end of the first hours: `make up` brings the schedule meanwhile."""
NIGHT = timedelta(minutes=5)
"""Longer than it takes until the host has gone too."""
DAY = timedelta(minutes=30)


def test_a_model_goes_to_zero_at_the_end_of_its_hours_and_comes_back_at_their_beginning(scaled: Laptop) -> None:
    zone, there = around_noon(datetime.now(UTC))
    end = there + FIRST
    working = [hours(there, end), hours(end + NIGHT, end + NIGHT + DAY)]
    schedule_of_today = {"schedule": {"timeZone": zone, "hours": working}}
    with (
        may_have_no_server(scaled, lambda model: model.update(schedule_of_today)),
        patched(scaled, cooldownPeriod=COOLDOWN_SECONDS),
    ):
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
