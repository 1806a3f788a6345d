"""The query by which KEDA knows that a model is idle, evaluated by promtool, and what KEDA does with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from llmd_gke.manifests import scaling
from tests.llmd_gke.manifests.conftest import MakeModel, promtool_says

SELECTOR = 'cluster="llmd",namespace="models",model="qwen"'
IDLE_MINUTES, REPLICAS = 60, 2
READY = f"inference_pool_ready_pods{{{SELECTOR}}}"
SERVED = f'inference_objective_request_total{{{SELECTOR},priority="0"}}'
UNSERVED = f'inference_objective_request_error_total{{{SELECTOR},error_code="ServiceUnavailable"}}'
MALFORMED = UNSERVED.replace("ServiceUnavailable", "BadRequest")
MINUTES = 240


def counter(*steps: tuple[int, int]) -> str:
    """A counter that exists from the first of its steps on: minute, value; ``_`` is no sample."""
    values, steps_ = [], dict(steps)
    value: str | int = "_"
    for minute in range(MINUTES):
        value = steps_.get(minute, value)
        values.append(str(value))
    return " ".join(values)


def answers(promtool: Path, folder: Path, series: dict[str, str], expected: dict[int, int | None]) -> str:
    """What promtool says of the query's value at some minutes (``None``: no value); empty where all is as expected."""
    query = scaling.recent_requests(SELECTOR, IDLE_MINUTES * 60, REPLICAS)
    asked = [
        {"expr": query, "eval_time": f"{minute}m", "exp_samples": [] if value is None else [{"value": value}]}
        for minute, value in expected.items()
    ]
    given = [{"series": name, "values": values} for name, values in series.items()]
    test: dict[str, Any] = {"interval": "1m", "input_series": given, "promql_expr_test": asked}
    return promtool_says(promtool, folder, test)


WITHOUT_SERVERS, WITH_SERVERS = f"0x{MINUTES}", f"1x{MINUTES}"


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        pytest.param({READY: WITHOUT_SERVERS}, {5: 0, 200: 0}, id="nobody has ever asked"),
        pytest.param(
            {READY: WITHOUT_SERVERS, UNSERVED: counter((100, 1))},
            {99: 0, 100: 2, 155: 2, 165: 0},
            id="the first request that the picker has ever seen",
        ),
        pytest.param(
            {READY: WITHOUT_SERVERS, UNSERVED: counter((0, 7), (100, 8))},
            {99: 0, 100: 2, 155: 2, 165: 0},
            id="a request after an idle time",
        ),
        pytest.param(
            {READY: WITH_SERVERS, SERVED: counter((0, 7), (100, 900))},
            {50: 2, 99: 0, 101: 2, 155: 2, 165: 0},
            id="requests that were served",
        ),
        pytest.param(
            {READY: WITH_SERVERS, SERVED: counter((0, 900), (100, 0), (101, 1))},
            {99: 0, 102: 2, 170: 0},
            id="a picker that has restarted",
        ),
        pytest.param({READY: WITHOUT_SERVERS, MALFORMED: counter((100, 1))}, {101: 0}, id="a malformed body"),
        pytest.param({}, {100: None}, id="nothing is collected"),
        pytest.param(
            {READY: f"1x100 _x{MINUTES - 100}", SERVED: counter((0, 7))},
            {99: 0, 110: None},
            id="the collection breaks off",
        ),
    ],
)
def test_requests_of_the_idle_time_ask_for_the_fewest_replicas_and_no_data_for_nothing(
    promtool: Path, tmp_path: Path, series: dict[str, str], expected: dict[int, int | None]
) -> None:
    assert answers(promtool, tmp_path, series, expected) == ""


def test_an_idle_model_keeps_no_server_and_its_first_one_waits_for_a_request_as_long(make_model: MakeModel) -> None:
    pace = {"idle_after_seconds": 7200}
    made = scaling.objects(make_model(min_replicas=2, max_replicas=4, scaling=pace), "keda", "llmd", "my-project")
    scaler = cast("Any", made["replicas"])
    spec = scaler["spec"]
    assert (spec["minReplicaCount"], spec["cooldownPeriod"], spec["initialCooldownPeriod"]) == (0, 300, 7200)
    load, requests = (trigger["metadata"] for trigger in spec["triggers"])
    assert (load["activationThreshold"], requests["activationThreshold"], requests["threshold"]) == ("0", "0", "1")
    assert requests["query"] == scaling.recent_requests(SELECTOR, 7200, 2)
    assert "annotations" not in scaler["metadata"], "an update would wait for the next request"


def test_a_model_that_keeps_its_servers_has_no_trigger_for_requests(make_model: MakeModel) -> None:
    made = scaling.objects(make_model(min_replicas=1, max_replicas=4), "keda", "llmd", "my-project")
    spec = cast("Any", made["replicas"])["spec"]
    assert (spec["minReplicaCount"], len(spec["triggers"])) == (1, 1)
    assert spec.keys().isdisjoint({"cooldownPeriod", "initialCooldownPeriod"})
