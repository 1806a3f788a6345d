from __future__ import annotations

import json
from dataclasses import astuple

import pytest

from llmd_gke.manifests.dashboard.caller_panels import used
from llmd_gke.settings import load_stack
from operations.doctor.google import ENDPOINT
from operations.prometheus.client import Series
from operations.usage.amounts import rows
from tests.fakes.prometheus import StandIn, serving
from tests.operations.conftest import Clone
from tests.operations.support import run

DOOR = "  llmd-gke:frontDoor: {callers: [{name: team-a}, {name: team-b}]}\n"


def series(value: float, **labels: str) -> Series:
    return Series(labels, [(0, value)])


def test_both_keys_of_a_caller_are_one_row_and_the_largest_comes_first() -> None:
    requests = [
        series(2, caller="team-a", gen_ai_request_model="qwen"),
        series(1, caller="team-a.next", gen_ai_request_model="qwen"),
        series(1, caller="team-b", gen_ai_request_model="qwen"),
    ]
    tokens = [
        series(20.4, caller="team-a", gen_ai_request_model="qwen", gen_ai_token_type="input"),
        series(10, caller="team-a.next", gen_ai_request_model="qwen", gen_ai_token_type="input"),
        series(7, caller="team-a", gen_ai_request_model="qwen", gen_ai_token_type="output"),
        series(900, caller="team-b", gen_ai_request_model="qwen", gen_ai_token_type="output"),
        series(float("nan"), caller="team-b", gen_ai_request_model="qwen", gen_ai_token_type="input"),
    ]
    begun = [
        series(5, caller="team-a", gen_ai_request_model="qwen"),
        series(2, caller="team-a.next", gen_ai_request_model="qwen"),
        series(4, caller="batch", gen_ai_request_model="qwen"),
        series(1, caller="team-b", gen_ai_request_model="qwen"),
    ]
    ended = [
        series(2.9, caller="team-a", gen_ai_request_model="qwen"),
        series(1.2, caller="team-b", gen_ai_request_model="qwen"),
    ]
    assert [astuple(row) for row in rows(requests, tokens, begun, ended)] == [
        ("team-b", "qwen", "", 1, 0, 900, 0),
        ("team-a", "qwen", "", 3, 30, 7, 4),
        ("batch", "qwen", "", 0, 0, 0, 4),
    ]


def test_the_metrics_of_the_period_are_asked_of_the_stacks_project(clone: Clone) -> None:
    clone.add(DOOR)
    asked = used(load_stack(clone.root, "one").settings, 7 * 86400)
    assert 'cluster="llmd-one",job="front-door"' in asked["requests"]
    assert asked["tokens"].endswith("[604800s]))")
    who = {"caller": "team-a", "gen_ai_request_model": "qwen"}
    stand_in = StandIn(
        series={
            asked["requests"]: [(who, lambda _: 4.0)],
            asked["begun"]: [(who, lambda _: 6.0)],
            asked["ended"]: [(who, lambda _: 1.0)],
            asked["tokens"]: [
                ({**who, "gen_ai_token_type": "input"}, lambda _: 40.0),
                ({**who, "gen_ai_token_type": "output"}, lambda _: 1000.0),
            ],
        }
    )
    with serving(stand_in) as url:
        environment = {ENDPOINT: url, "NO_PROXY": "127.0.0.1"}
        done = run("usage", "--stack", "one", "--days", "7", "-o", "json", root=clone.root, environment=environment)
        shown = run("usage", "--stack", "one", "--days", "7", root=clone.root, environment=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "stack": "one",
        "cloud": "google",
        "days": 7.0,
        "usage": [
            {
                "caller": "team-a",
                "model": "qwen",
                "requests": 4,
                "inputTokens": 40,
                "outputTokens": 1000,
                "streamsEndedEarly": 5,
            }
        ],
    }
    assert "1,000" in shown.stdout


@pytest.mark.parametrize(
    ("more", "problem", "fix"),
    [
        ("", "llmd-gke:frontDoor is not set in stack one", "set llmd-gke:frontDoor"),
        (
            DOOR + "  llmd-gke:monitoring: {scrape: false}\n",
            "llmd-gke:monitoring.scrape = false",
            "remove `scrape: false` from llmd-gke:monitoring, then pulumi up --stack one",
        ),
    ],
)
def test_a_stack_without_a_front_door_or_without_metrics_says_so(
    clone: Clone, more: str, problem: str, fix: str
) -> None:
    clone.add(more)
    done = run("usage", "--stack", "one", root=clone.root)
    assert done.returncode == 2
    assert problem in done.stderr
    assert f"Fix: {fix}" in done.stderr
