"""Where traces go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmd_gke.catalog import tracing
from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config, Refuse

COLLECTOR = "http://collector.observability.svc.cluster.local:4317"


def traced(config: Config, **traces: Any) -> Config:
    config["llmd-gke:monitoring"] = {"traces": traces}
    return config


@pytest.mark.parametrize("endpoint", [COLLECTOR, "http://collector.observability.svc:4317", "http://10.1.2.3:4317/"])
def test_a_receiver_in_the_cluster_or_at_an_address_is_accepted(
    config: Config, accepted: Callable[..., Checked], endpoint: str
) -> None:
    settings = accepted(traced(config, endpoint=endpoint, samplingRatio=0.5)).settings
    assert settings.monitoring.traces is not None
    assert (settings.monitoring.traces.receiver, settings.monitoring.traces.sampling_ratio) == (endpoint, 0.5)
    assert "cloudtrace" not in settings.apis


def test_cloud_trace_needs_two_more_apis_and_goes_to_gkes_collector(
    config: Config, accepted: Callable[..., Checked]
) -> None:
    settings = accepted(traced(config, cloudTrace=True)).settings
    assert settings.monitoring.traces is not None
    assert settings.monitoring.traces.receiver == tracing.MANAGED_ENDPOINT
    assert settings.monitoring.traces.sampling_ratio == tracing.DEFAULT_RATIO
    assert {"cloudtrace", "telemetry"} <= set(settings.apis)


def test_nothing_is_traced_unless_it_is_asked_for(config: Config, accepted: Callable[..., Checked]) -> None:
    settings = accepted(config).settings
    assert settings.monitoring.traces is None
    assert not settings.monitoring.cloud_trace


@pytest.mark.parametrize("traces", [{}, {"cloudTrace": False}, {"cloudTrace": True, "endpoint": COLLECTOR}])
def test_traces_go_to_exactly_one_place(config: Config, refused: Refuse, traces: dict[str, Any]) -> None:
    message = refused(traced(config, **traces))
    assert "llmd-gke:monitoring.traces" in message
    assert "[traces-destination]" in message


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://collector.observability.svc:4317",
        "http://collector:4317",
        "http://otel.example.com:4317",
        "http://collector.observability.svc",
        "http://collector.observability.svc:4317/v1/traces",
        "http://user:pass@10.1.2.3:4317",
        "collector.observability.svc:4317",
        "http://[::1]:4317",
        "http://10.1.2.3:99999",
    ],
)
def test_what_pods_cannot_reach_is_refused_with_what_they_can(config: Config, refused: Refuse, endpoint: str) -> None:
    message = refused(traced(config, endpoint=endpoint))
    assert "[traces-endpoint]" in message
    assert "allowed: http://SERVICE.NAMESPACE.svc.cluster.local:4317" in message


@pytest.mark.parametrize("ratio", [0, -0.1, 1.1])
def test_a_ratio_is_above_0_and_1_at_most(config: Config, refused: Refuse, ratio: float) -> None:
    assert "llmd-gke:monitoring.traces.samplingRatio" in refused(traced(config, cloudTrace=True, samplingRatio=ratio))


def test_a_gke_without_a_collector_of_its_own_is_refused(config: Config, refused: Refuse) -> None:
    config["llmd-gke:cluster"]["minVersion"] = "1.34.0-gke.1626000"
    assert f"cloudTrace requires GKE {tracing.MANAGED_SINCE}" in refused(traced(config, cloudTrace=True))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"extraArgs": ["--otlp-traces-endpoint=http://x:4317"]}, "--otlp-traces-endpoint"),
        ({"env": [{"name": "OTEL_TRACES_SAMPLER_ARG", "value": "1"}]}, "OTEL_TRACES_SAMPLER_ARG"),
    ],
)
def test_a_model_that_says_itself_where_its_traces_go_is_refused(
    config: Config, refused: Refuse, changes: dict[str, Any], named: str
) -> None:
    config["llmd-gke:models"][0].update(changes)
    message = refused(traced(config, cloudTrace=True))
    assert "llmd-gke:models[0]" in message
    assert f"{named} would override" in message
