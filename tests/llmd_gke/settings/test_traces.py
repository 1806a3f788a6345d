"""Where traces go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llmd_gke.catalog import tracing
from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config


def traced(config: Config, **traces: Any) -> Config:
    config["llmd-gke:monitoring"] = {"traces": traces}
    return config


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
