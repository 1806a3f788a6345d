"""What the settings of models make of a stack: weights, hosts, servers, the way out and traces."""

from __future__ import annotations

from typing import Any

import pytest

from llmd_gke.catalog import tracing
from tests.llmd_gke.settings.conftest import Accept, Config, Refuse


@pytest.mark.parametrize(
    ("uri", "minutes"),
    [
        ("hf://Qwen/Qwen3-4B", 20),
        ("hf://meta-llama/Llama-3.3-70B-Instruct", 53),
        ("hf://some/unknown", 30),
        ("gs://my-bucket/x", 30),
    ],
)
def test_the_startup_budget_follows_the_size_of_the_weights(
    config: Config, accepted: Accept, uri: str, minutes: int
) -> None:
    model = config["llmd-gke:models"][0]
    config["llmd-gke:pools"][0] |= {"machineType": "ct6e-standard-8t", "topology": "2x4", "diskGb": 500}
    model["uri"] = uri
    assert accepted(config).settings.models[0].startup_budget == minutes
    model["startupMinutes"] = 60
    assert accepted(config).settings.models[0].startup_budget == 60


def test_a_password_in_the_proxys_address_is_refused_and_not_repeated(config: Config, refused: Refuse) -> None:
    config["llmd-gke:network"] = {"egress": {"mode": "proxy", "proxy": "http://me:neverShown@10.1.2.3:3128"}}
    message = refused(config)
    assert "which anyone who can read the pod would see  [egress-proxy]" in message
    assert "neverShown" not in message


def across(config: Config, **model: object) -> Config:
    """The stack with its model on a 4x4 slice of four hosts."""
    config["llmd-gke:pools"][0].update(topology="4x4", maxNodes=4, earlyHosts=0)
    config["llmd-gke:models"][0].update(replicas=1, experimentalMultiHost=True, **model)
    return config


def test_a_model_on_a_slice_of_several_hosts_is_accepted_when_it_says_so(config: Config, accepted: Accept) -> None:
    settings = accepted(across(config)).settings
    assert settings.spans_hosts(settings.models[0])
    assert settings.multi_host_namespaces == ("models",)
    assert settings.busy_nodes(settings.pools[0]) == 4
    assert settings.totals.chips == 16


# --- stopped models and room ---------------------------------------------------------------------------------------


def with_model(config: Config, **changes: Any) -> Config:
    config["llmd-gke:models"][0] |= changes
    return config


def test_a_size_that_nothing_tells_is_said_to_be_unchecked(config: Config, accepted: Accept) -> None:
    checked = accepted(with_model(config, uri="hf://someone/secretive"))
    assert "whether it fits in HBM and on disk was not checked" in str(
        [one.finding.problem for one in checked.warnings]
    )


def traced(config: Config, **traces: Any) -> Config:
    config["llmd-gke:monitoring"] = {"traces": traces}
    return config


def test_cloud_trace_needs_two_more_apis_and_goes_to_gkes_collector(config: Config, accepted: Accept) -> None:
    settings = accepted(traced(config, cloudTrace=True)).settings
    assert settings.monitoring.traces is not None
    assert settings.monitoring.traces.receiver == tracing.MANAGED_ENDPOINT
    assert settings.monitoring.traces.sampling_ratio == tracing.DEFAULT_RATIO
    assert {"cloudtrace", "telemetry"} <= set(settings.apis)


SMALL = "hf://Qwen/Qwen2.5-3B-Instruct"


def test_each_revision_has_a_folder_of_its_own(config: Config, accepted: Accept) -> None:
    newest = accepted(with_model(config, uri=SMALL, weightsCache="gs://weights/hf/")).settings.models[0]
    assert newest.weights_uri == "gs://weights/hf/Qwen/Qwen2.5-3B-Instruct/main"
    fixed = accepted(with_model(config, uri=f"{SMALL}:0a1b2c3", weightsCache="gs://weights/hf")).settings.models[0]
    assert fixed.weights_uri == "gs://weights/hf/Qwen/Qwen2.5-3B-Instruct/0a1b2c3"
