"""What settings say about the server's container: variables, privileges, and the picker beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config

Accept = Callable[..., Checked]


def with_model(config: Config, **changes: Any) -> Config:
    config["llmd-gke:models"][0] |= changes
    return config


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"value": "600"}, "_KEEP_ALIVE 600: the load balancer keeps"),
        ({"value": "15m"}, "a whole number of more than 600"),
        ({"secret": "s", "key": "k"}, "remove VLLM_HTTP_TIMEOUT_KEEP_ALIVE"),
    ],
)
def test_servers_keep_idle_connections_longer_than_the_load_balancer(
    config: Config, accepted: Accept, refused: Refuse, value: dict[str, str], text: str
) -> None:
    assert accepted(with_model(config, env=[{"name": "VLLM_HTTP_TIMEOUT_KEEP_ALIVE", "value": "601"}]))
    message = refused(with_model(config, env=[{"name": "VLLM_HTTP_TIMEOUT_KEEP_ALIVE", **value}]))
    assert "[server-environment]" in message
    assert text in message


def test_running_requests_finish_within_the_hour_that_the_load_balancer_drains_at_most(
    config: Config, accepted: Accept, refused: Refuse
) -> None:
    assert accepted(with_model(config, drainSeconds=3585)).settings.models[0].drain_seconds == 3585
    message = refused(with_model(config, drainSeconds=3586))
    assert "llmd-gke:models[0].drainSeconds" in message
    assert "at most 3585" in message


def test_privileges_of_one_model_are_a_setting_and_a_warning(config: Config, accepted: Accept) -> None:
    checked = accepted(with_model(config, privileged=True, capabilities=["SYS_RESOURCE"]))
    assert checked.settings.models[0].privileged
    assert "model-privileges" in [one.finding.rule for one in checked.warnings]


def test_a_size_that_only_the_name_tells_warns_and_refuses_nothing(config: Config, accepted: Accept) -> None:
    checked = accepted(with_model(config, uri="hf://someone/Big-200B"))
    problems = [one.finding.problem for one in checked.warnings if one.finding.rule == "model-size"]
    assert problems
    assert "about 400 GB (by its name)" in problems[0]


def test_a_size_that_nothing_tells_is_said_to_be_unchecked(config: Config, accepted: Accept) -> None:
    checked = accepted(with_model(config, uri="hf://someone/secretive"))
    assert "whether it fits in HBM and on disk was not checked" in str(
        [one.finding.problem for one in checked.warnings]
    )
