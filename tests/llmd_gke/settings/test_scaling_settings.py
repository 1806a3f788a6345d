"""Replicas that follow the load, in the settings."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from llmd_gke.catalog import versions
from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config, Refuse


def scaled(config: Config, **changes: Any) -> Config:
    """The configuration with one model between 1 and 3 replicas; ``None`` removes a key."""
    model = config["llmd-gke:models"][0]
    for key, value in {"replicas": None, "minReplicas": 1, "maxReplicas": 3, **changes}.items():
        model.pop(key, None)
        if value is not None:
            model[key] = value
    return config


def test_a_model_between_two_bounds_counts_with_its_maximum(config: Config, accepted: Callable[..., Checked]) -> None:
    settings = accepted(scaled(config)).settings
    (model,) = settings.models
    assert (model.autoscaled, model.fewest_replicas, model.most_replicas, model.running_replicas) == (True, 1, 3, 3)
    assert model.replicas_text == "1 to 3 replicas"
    assert settings.busy_nodes(settings.pools[0]) == 3
    assert settings.least_nodes(settings.pools[0]) == 1
    assert settings.least_totals.chips == 4


def test_a_fixed_number_is_as_before(config: Config, accepted: Callable[..., Checked]) -> None:
    settings = accepted(config).settings
    (model,) = settings.models
    assert (model.autoscaled, model.fewest_replicas, model.most_replicas) == (False, 3, 3)
    assert model.replicas_text == "3 replicas"
    assert settings.totals == settings.least_totals
    assert settings.autoscaled == ()


def test_a_stopped_model_holds_no_host_and_has_no_autoscaler(config: Config, accepted: Callable[..., Checked]) -> None:
    settings = accepted(scaled(config, stopped=True)).settings
    assert (settings.models[0].running_replicas, settings.models[0].least_replicas) == (0, 0)
    assert settings.autoscaled == ()
    assert not settings.scales_by("keda")


def test_keda_is_the_source_below_the_version_with_the_managed_adapter(
    config: Config, accepted: Callable[..., Checked]
) -> None:
    settings = accepted(scaled(config)).settings
    assert settings.scales_by("keda")
    assert not settings.scales_by("gke")
    config["llmd-gke:cluster"]["minVersion"] = versions.gke_autoscaling_metric()
    newer = accepted(config).settings
    assert newer.scales_by("gke")
    assert not newer.scales_by("keda")


HOURS = {"timeZone": "Europe/Amsterdam", "hours": ["Mon-Fri 08:00-18:00"]}


def test_a_model_with_a_schedule_holds_no_host_at_night(config: Config, accepted: Callable[..., Checked]) -> None:
    settings = accepted(scaled(config, schedule=HOURS)).settings
    (model,) = settings.models
    assert (model.scheduled, model.fewest_replicas, model.least_replicas, model.running_replicas) == (True, 1, 0, 3)
    assert model.replicas_text == "0 to 3 replicas"
    assert settings.least_totals.chips == 0
    assert model.serves_at(datetime(2026, 11, 23, 12, tzinfo=UTC))
    assert not model.serves_at(datetime(2026, 11, 22, 12, tzinfo=UTC))


def test_a_model_that_may_be_idle_holds_no_host_then_and_serves_at_all_times(
    config: Config, accepted: Callable[..., Checked]
) -> None:
    settings = accepted(scaled(config, scaling={"idleAfterSeconds": 7200})).settings
    (model,) = settings.models
    assert (model.scales_to_zero, model.fewest_replicas, model.least_replicas) == (True, 1, 0)
    assert model.replicas_text == "0 to 3 replicas"
    assert settings.least_totals.chips == 0
    model = accepted(scaled(config, scaling={"idleAfterSeconds": 7200}, schedule=HOURS)).settings.models[0]
    assert model.serves_at(datetime(2026, 11, 22, 12, tzinfo=UTC)), "a request starts it at night, too"


@pytest.mark.parametrize(
    ("hours", "key", "problem"),
    [
        ({"timeZone": "Europe/Amsterdm"}, "schedule.timeZone = ", "timeZone: Europe/Amsterdam"),
        ({"hours": ["8-18"]}, "schedule.hours[0] = ", "Mon-Fri 08:00-18:00"),
        ({"hours": ["Fri 22:00-06:00"]}, "schedule.hours[0] = ", "two entries for hours"),
        ({"hours": ["Mon-Fri 08:00-18:00", "Tue 17:00-19:00"]}, "schedule.hours = ", "overlaps another entry"),
        ({"hours": []}, "schedule.hours = []", "the model would never run"),
        ({"hours": ["Mon-Sun 00:00-24:00"]}, "schedule.hours = ", "remove schedule"),
        ({"hours": 3}, "schedule.hours", "list"),
        ({"hours": None}, "schedule.hours", ""),
        ({"timeZone": None}, "schedule.timeZone", ""),
        ({"days": []}, "schedule.days", ""),
    ],
)
def test_a_bad_schedule_names_key_value_and_fix(
    config: Config, refused: Refuse, hours: dict[str, Any], key: str, problem: str
) -> None:
    given = {name: value for name, value in {**HOURS, **hours}.items() if value is not None}
    text = refused(scaled(config, schedule=given))
    assert f"models[0].{key}" in text
    assert problem in text
    assert "fix:" in text


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"minReplicas": None, "maxReplicas": None, "replicas": 2}, "no effect on a fixed number of replicas"),
        ({"scaling": {"source": "gke"}}, "source: keda"),
        ({"minReplicas": 0}, "llmd-gke start"),
        ({"minReplicas": 4}, "minReplicas 4 is more than maxReplicas 3"),
    ],
)
def test_a_schedule_needs_bounds_and_keda(
    config: Config, refused: Refuse, changes: dict[str, Any], problem: str
) -> None:
    config["llmd-gke:cluster"]["minVersion"] = versions.gke_autoscaling_metric()
    changes = {"scaling": {"source": "keda"}, **changes}
    text = refused(scaled(config, schedule=HOURS, **changes))
    assert problem in text
    assert "fix:" in text


def test_idle_models_need_keda(config: Config, refused: Refuse) -> None:
    config["llmd-gke:cluster"]["minVersion"] = versions.gke_autoscaling_metric()
    text = refused(scaled(config, scaling={"idleAfterSeconds": 3600}))
    assert "models[0].scaling.idleAfterSeconds = 3600" in text
    assert "source: keda" in text


def test_zero_replicas_without_a_schedule_name_the_reason_and_the_command(config: Config, refused: Refuse) -> None:
    text = refused(scaled(config, minReplicas=0))
    assert "nothing would wake the model" in text
    assert "idleAfterSeconds: 7200" in text
    assert "`llmd-gke stop` and `llmd-gke start`" in text


@pytest.mark.parametrize(
    "changes", [{"minReplicas": 0, "schedule": HOURS}, {"minReplicas": "one"}, {"maxReplicas": -1}]
)
def test_a_bound_that_cannot_be_read_is_one_problem(config: Config, refused: Refuse, changes: dict[str, Any]) -> None:
    message = refused(scaled(config, **changes))
    assert "has 1 problem:" in message
    assert "is missing" not in message


@pytest.mark.parametrize(
    ("changes", "key", "problem"),
    [
        ({"minReplicas": 4}, "models[0].maxReplicas = 3", "minReplicas 4 is more than maxReplicas 3"),
        ({"replicas": 2}, "models[0].maxReplicas = 3", "replicas: 2 is set beside minReplicas: 1 and maxReplicas: 3"),
        ({"replicas": 1}, "models[0].maxReplicas = 3", "replicas: 1 is set beside minReplicas: 1 and maxReplicas: 3"),
        ({"minReplicas": None}, "models[0].maxReplicas = 3", "minReplicas is missing"),
        ({"maxReplicas": None}, "models[0].minReplicas = 1", "maxReplicas is missing"),
        ({"minReplicas": 0}, "models[0].minReplicas = 0", "1"),
        ({"maxReplicas": 4}, "models[0].maxReplicas = 4", "set maxNodes of pool v6e4 to 5"),
        ({"maxReplicas": 9}, "models[0].maxReplicas = 9", "set maxNodes of pool v6e4 to 12, or use fewer"),
        (
            {"maxNumSeqs": 256, "scaling": {"runningPerReplica": 233}},
            "models[0].scaling.runningPerReplica = 233",
            "fix:     runningPerReplica: 205",
        ),
        ({"scaling": {"source": "gke"}}, "models[0].scaling.source = 'gke'", "managed adapter of metrics needs"),
        ({"scaling": {"idleAfterSeconds": 60}}, "models[0].scaling.idleAfterSeconds = 60", "1800"),
        ({"scaling": {"idleAfterSeconds": "1h"}}, "models[0].scaling.idleAfterSeconds = '1h'", "number"),
        (
            {"scaling": {"idleAfterSeconds": 3600}, "minReplicas": None, "maxReplicas": None, "replicas": 2},
            "models[0].scaling",
            "no effect on a fixed number",
        ),
        ({"scaling": {"wva": {"keda": {}}}}, "models[0].scaling.wva", "autoscaler that llm-d has deprecated"),
        ({"scaling": {"maxReplicas": 4}}, "models[0].scaling.maxReplicas = 4", "beside `scaling`"),
        ({"scaling": {"source": "wva"}}, "models[0].scaling.source", "keda"),
        ({"scaling": {"scaleUpEverySeconds": 3600}}, "models[0].scaling.scaleUpEverySeconds", "1800"),
        (
            {"scaling": {}, "minReplicas": None, "maxReplicas": None, "replicas": 2},
            "models[0].scaling",
            "no effect on a fixed number",
        ),
    ],
)
def test_bad_input_is_refused_with_key_value_and_fix(
    config: Config, refused: Refuse, changes: dict[str, Any], key: str, problem: str
) -> None:
    message = refused(scaled(config, **changes))
    assert key in message.replace('"', "'")
    assert problem in message
    assert "fix:" in message


def test_a_threshold_of_running_requests_that_servers_can_exceed_is_accepted(
    config: Config, accepted: Callable[..., Checked]
) -> None:
    exceeded = scaled(config, maxNumSeqs=256, scaling={"runningPerReplica": 232})
    assert accepted(exceeded).settings.models[0].pace.running_per_replica == 232


def test_of_models_that_need_too_many_hosts_together_the_largest_one_is_named(config: Config, refused: Refuse) -> None:
    first = scaled(config)["llmd-gke:models"][0]
    config["llmd-gke:models"].append({**first, "name": "small", "maxReplicas": 4})
    message = refused(config)
    assert "has 1 problem:" in message
    assert "models[1].maxReplicas = 4" in message
    assert "need 7 hosts, but it has at most 4" in message


def test_a_pool_whose_updates_need_a_stop_may_be_full(config: Config, accepted: Callable[..., Checked]) -> None:
    config["llmd-gke:tpuPools"][0]["updatesNeedStop"] = True
    assert accepted(scaled(config, maxReplicas=4)).settings.models[0].most_replicas == 4


def test_keda_without_collected_metrics_is_refused(config: Config, refused: Refuse) -> None:
    config["llmd-gke:monitoring"] = {"scrape": False}
    assert "[autoscaler-source]" in refused(scaled(config))


def test_a_model_across_hosts_is_not_autoscaled(config: Config, refused: Refuse) -> None:
    config["llmd-gke:tpuPools"][0] |= {"topology": "4x4", "diskGb": 200}
    message = refused(scaled(config, experimentalMultiHost=True))
    assert "room for one replica only" in message
