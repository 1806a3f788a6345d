"""Values of gauges in Prometheus' text format."""

from __future__ import annotations

import pytest

from localcloud.metrics_adapter import gauges

PAGE = """\
# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="qwen {a} b"} 3.0
vllm:num_requests_waiting{engine="1",model_name="qwen"} 2 1700000000000
# TYPE vllm:num_requests_waiting_long gauge
vllm:num_requests_waiting_long 70
# TYPE empty gauge
# TYPE odd gauge
odd NaN
# TYPE vllm:request_success counter
vllm:request_success_total 9
# TYPE tokens_total counter
tokens_total 4
# TYPE seconds histogram
seconds_sum 1
seconds_count 2
untyped 5
"""


def test_the_series_of_a_gauge_are_added_up() -> None:
    assert gauges.value(PAGE, "vllm:num_requests_waiting") == 5
    assert gauges.value(PAGE, "vllm:num_requests_waiting_long") == 70


@pytest.mark.parametrize("name", ["absent", "empty", "odd"])
def test_a_gauge_without_a_number_has_no_value_rather_than_0(name: str) -> None:
    assert gauges.value(PAGE, name) is None


@pytest.mark.parametrize(("number", "written"), [(0, "0"), (7, "7"), (0.25, "250m"), (1.5, "1500m")])
def test_a_value_is_a_quantity_of_kubernetes(number: float, written: str) -> None:
    assert gauges.quantity(number) == written
