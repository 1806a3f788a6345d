"""What smoke says of servers and gateways that behave, and of those that do not."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from operations.outputs import Endpoint
from operations.smoke import checks
from operations.smoke.client import Options
from operations.smoke.outcome import Outcome
from operations.smoke.run import smoke
from tests.fakes.vllm import Behaviour, serving

SLOW = Behaviour(seconds_a_token=0.002, max_model_len=4096)


@pytest.fixture(autouse=True)
def short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gateway's default limit, 30 s on GKE, is less than a second here."""
    monkeypatch.setattr(checks, "GKE_DEFAULT_SECONDS", 0.5)
    monkeypatch.setattr(checks, "CLEARLY_LONGER_SECONDS", 0.8)


def look(behaviour: Behaviour, **options: int) -> dict[str, Outcome]:
    with serving(behaviour) as url:
        endpoint = Endpoint("qwen", url, "qwen")
        result = asyncio.run(smoke([endpoint], "eu4a", Options(**options), seconds=20))
    return {outcome.name: outcome for outcome in result}


def verdicts(result: dict[str, Outcome], verdict: str) -> set[str]:
    return {name for name, outcome in result.items() if outcome.verdict == verdict}


def test_a_server_that_behaves_passes_every_check() -> None:
    behaviour = replace(SLOW, seen=[], answers_as="qwen")  # vLLM answers under its first name
    result = look(behaviour)
    assert {body["model"] for body in behaviour.seen} == {"qwen", "publishers/models/models/qwen", "no-such-model"}
    assert {name: outcome.detail for name, outcome in result.items() if outcome.verdict != "passed"} == {}
    assert len(result) == 10
    assert "still arriving after 1 s" in result["longer than 30 s"].detail


def test_a_pool_without_healthy_backends_is_named_with_cause_and_command() -> None:
    result = look(replace(SLOW, unhealthy=True))
    assert verdicts(result, "failed") == set(result)
    assert "health check" in result["health"].cause
    assert result["health"].fix == "llmd-gke status --stack eu4a"


def test_a_server_too_quick_for_the_limit_is_skipped_and_the_way_to_force_it_is_told() -> None:
    result = look(replace(SLOW, seconds_a_token=0.0001, max_model_len=256))
    assert result["longer than 30 s"].verdict == "skipped"
    assert "--long-tokens" in result["longer than 30 s"].detail


def test_the_length_of_the_long_answer_can_be_chosen() -> None:
    behaviour = replace(SLOW, seen=[])
    look(behaviour, long_tokens=1777)
    assert 1777 in {body["max_tokens"] for body in behaviour.seen}


@pytest.mark.parametrize(
    ("faults", "failed", "detail"),
    [
        ({"cuts_after": 0.5}, ("longer than 30 s", "streaming"), "was cut off after 0."),
        (
            {"holds_streams_back": True, "seconds_a_token": 0.03, "max_model_len": 300},
            ("streaming",),
            "buffers the answer",
        ),
        ({"names": ("qwen",)}, ("models", "both names"), "publishers/models/models/qwen is not listed"),
        ({"answers_as": "other"}, ("completion", "both names", "several at once"), "the answer is from 'other'"),
        ({"plain_errors": True}, ("unknown model",), "not a JSON object"),
        ({"accepts_any_json": True}, ("bad JSON",), ""),
    ],
)
def test_a_fault_fails_the_checks_that_meet_it_and_says_what_was_seen(
    faults: dict[str, Any], failed: tuple[str, ...], detail: str
) -> None:
    result = look(replace(SLOW, **faults))
    assert verdicts(result, "failed") == set(failed)
    assert detail in result[failed[0]].detail


def test_requests_at_once_that_are_turned_away_are_counted() -> None:
    result = look(replace(SLOW, one_at_a_time=True, seconds_a_token=0.01, max_model_len=200), together=4)
    assert "of 4 failed" in result["several at once"].detail
    assert "saturated" in result["several at once"].cause


def test_a_path_without_a_route_is_told_from_a_server_without_the_page() -> None:
    with serving(SLOW) as url:
        endpoint = Endpoint("qwen", url.replace("/qwen", "/other"), "qwen")
        result = asyncio.run(smoke([endpoint], "eu4a", Options(), seconds=20))
    assert result[0].verdict == "failed"
    assert "no route for that path" in result[0].cause


def test_where_nothing_answers_the_other_checks_are_not_tried() -> None:
    with serving(SLOW) as url:
        pass  # the port is free again
    result = asyncio.run(smoke([Endpoint("qwen", url, "qwen")], "eu4a", Options(), seconds=20))
    assert [outcome.verdict for outcome in result] == ["failed"] * 2 + ["skipped"] * 8
    assert "internal" in result[0].cause


def test_the_time_for_all_checks_is_kept() -> None:
    with serving(replace(SLOW, seconds_a_token=0.02)) as url:
        result = asyncio.run(smoke([Endpoint("qwen", url, "qwen")], "eu4a", Options(long_tokens=4000), seconds=0.6))
    assert "--timeout" in next(o.detail for o in result if o.name == "longer than 30 s")
    assert len(result) == 10


def test_behind_the_front_door_the_key_is_sent_and_health_is_not_asked_for() -> None:
    behaviour = replace(SLOW, seen=[], key="key-of-somebody")
    with serving(behaviour) as url:
        endpoint = Endpoint(
            name="qwen", url=url, served_model_name="qwen", behind_door=True, namespace="models", key="key-of-somebody"
        )
        result = asyncio.run(smoke([endpoint], "eu4a", Options(), seconds=20))
        without = asyncio.run(smoke([replace(endpoint, key="")], "eu4a", Options(), seconds=20))
    assert {outcome.name for outcome in result if outcome.verdict != "passed"} == {"health"}
    assert "publishers/models/models/qwen" in {body["model"] for body in behaviour.seen}
    assert {outcome.name for outcome in without if outcome.verdict == "passed"} == set()
