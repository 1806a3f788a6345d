from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from llmd_gke.catalog import versions
from tests.llmd_gke.settings.conftest import Accept, Config


def scaled(config: Config, **changes: Any) -> Config:
    """The configuration with one model between 1 and 3 replicas; ``None`` removes a key."""
    model = config["llmd-gke:models"][0]
    for key, value in {"replicas": None, "minReplicas": 1, "maxReplicas": 3, **changes}.items():
        model.pop(key, None)
        if value is not None:
            model[key] = value
    return config


def test_a_model_between_two_bounds_counts_with_its_maximum(config: Config, accepted: Accept) -> None:
    settings = accepted(scaled(config)).settings
    (model,) = settings.models
    assert (model.autoscaled, model.serving_replicas, model.most_replicas) == (True, 1, 3)
    assert settings.busy_nodes(settings.pools[0]) == 3
    assert settings.least_nodes(settings.pools[0]) == 1
    assert settings.least_totals.chips == 4


def test_a_stopped_model_holds_no_host_and_has_no_autoscaler(config: Config, accepted: Accept) -> None:
    settings = accepted(scaled(config, stopped=True)).settings
    assert (settings.models[0].most_replicas, settings.models[0].least_replicas) == (0, 0)
    assert settings.autoscaled == ()
    assert not settings.scales_by("keda")


def test_keda_is_the_source_below_the_version_with_the_managed_adapter(config: Config, accepted: Accept) -> None:
    settings = accepted(scaled(config)).settings
    assert settings.scales_by("keda")
    assert not settings.scales_by("gke")
    config["llmd-gke:cluster"]["minVersion"] = versions.gke_autoscaling_metric()
    newer = accepted(config).settings
    assert newer.scales_by("gke")
    assert not newer.scales_by("keda")


HOURS = {"timeZone": "Europe/Amsterdam", "hours": ["Mon-Fri 08:00-18:00"]}


def test_a_model_with_a_schedule_holds_no_host_at_night(config: Config, accepted: Accept) -> None:
    settings = accepted(scaled(config, schedule=HOURS)).settings
    (model,) = settings.models
    assert (model.scales_to_zero, model.serving_replicas, model.least_replicas, model.most_replicas) == (True, 1, 0, 3)
    assert settings.least_totals.chips == 0
    assert model.serves_at(datetime(2026, 11, 23, 12, tzinfo=UTC))
    assert not model.serves_at(datetime(2026, 11, 22, 12, tzinfo=UTC))


def test_a_model_that_may_be_idle_holds_no_host_then_and_serves_at_all_times(config: Config, accepted: Accept) -> None:
    settings = accepted(scaled(config, scaling={"idleAfterSeconds": 7200})).settings
    (model,) = settings.models
    assert (model.scales_to_zero, model.serving_replicas, model.least_replicas) == (True, 1, 0)
    assert settings.least_totals.chips == 0
    model = accepted(scaled(config, scaling={"idleAfterSeconds": 7200}, schedule=HOURS)).settings.models[0]
    assert model.serves_at(datetime(2026, 11, 22, 12, tzinfo=UTC)), "a request starts it at night, too"
