"""A stack with a front door: its models have routes there, and the load balancer reaches its proxies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llmd_gke.catalog import front_door as facts
from llmd_gke.settings import FrontDoorSettings, StackSettings, load_stack
from llmd_gke.settings.sections.front_door import CallerSettings
from operations.status import backend_health, front_door, gateway
from operations.status.objects import Line, Snapshot, State
from tests.operations.status.shapes import NOW, attached, condition, policy
from tests.operations.status.shapes import gateway as a_gateway

STACK = "eu4a"
PROXIES = facts.PROXIES_NAMESPACE
ACCEPTED = (condition("Accepted"), condition("ResolvedRefs"))
ONE, TWO = "10.4.0.7", "10.4.1.9"


@pytest.fixture
def settings() -> StackSettings:
    return load_stack(Path(__file__).parents[3], STACK).settings


@pytest.fixture
def door(settings: StackSettings) -> FrontDoorSettings:
    assert settings.front_door is not None
    limited = CallerSettings(name="team-a", requests_per_minute=60)
    return settings.front_door.model_copy(update={"replicas": 2, "callers": (limited,)})


def pod(name: str, labels: dict[str, str], address: str = "", *, ready: bool = True) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": PROXIES, "labels": labels},
        "status": {"podIP": address, "conditions": [condition("Ready", "True" if ready else "False")]},
    }


def snapshot(*pods: dict[str, Any], policies: bool = True, **kinds: Any) -> Snapshot:
    """A cluster in which everything about the door is in order, except for what is given."""
    held = [policy(facts.NAME, condition("Attached"), namespace=PROXIES)] if policies else []
    given: dict[str, Any] = {
        "gateways": [a_gateway(name=facts.NAME)],
        "routes": [
            attached("HTTPRoute", facts.NAME, *ACCEPTED, namespace=PROXIES),
            attached("HTTPRoute", "qwen-door", *ACCEPTED),
        ],
        "pools": [attached("InferencePool", "qwen-inference-pool", *ACCEPTED)],
    }
    return Snapshot(now=NOW, pods=pods, health_policies=held, backend_policies=held, **{**given, **kinds})


PODS = [
    pod("front-door-1", facts.PROXY_LABELS, ONE),
    pod("front-door-2", facts.PROXY_LABELS, TWO),
    pod("envoy-ratelimit-1", facts.LIMITER_LABELS),
    pod("front-door-redis-1", {"app.kubernetes.io/name": facts.REDIS}),
]


def not_good(lines: list[Line]) -> list[str]:
    return [line.subject for line in lines if line.state is not State.GOOD]


def test_a_model_behind_a_door_needs_its_route_there_and_none_at_the_load_balancer(door: FrontDoorSettings) -> None:
    lines = gateway.model_lines(snapshot(), "models", "qwen", STACK, door)
    assert [(line.subject, line.state) for line in lines] == [
        ("qwen: route of the front door", State.GOOD),
        ("qwen: pool", State.GOOD),
    ]


def test_while_paths_are_kept_the_route_at_the_load_balancer_is_looked_for_too(door: FrontDoorSettings) -> None:
    kept = door.model_copy(update={"keep_paths": True})
    lines = gateway.model_lines(snapshot(), "models", "qwen", STACK, kept)
    assert not_good(lines)[0] == "qwen: route"
    assert len(not_good(lines)) == 5  # with health check and backend timeout of pool and Service


def test_a_missing_route_of_the_door_points_to_the_object_that_makes_it(door: FrontDoorSettings) -> None:
    lines = gateway.model_lines(snapshot(routes=[]), "models", "qwen", STACK, door)
    assert lines[0].state is State.BAD
    assert lines[0].fix == "kubectl -n models describe aigatewayroute qwen-door"


def test_a_door_in_order_has_a_good_line_for_each_part(door: FrontDoorSettings) -> None:
    lines = front_door.lines(snapshot(*PODS), door, STACK)
    assert not_good(lines) == []
    assert [line.subject.removeprefix("front door") for line in lines] == [
        "", ": proxies", ": limiter", ": Redis", ": route", ": policies",
    ]  # fmt: skip


def test_limiter_and_redis_are_looked_for_only_where_they_exist(door: FrontDoorSettings) -> None:
    elsewhere = door.model_copy(update={"redis": "10.1.2.3:6379"})
    subjects = [line.subject for line in front_door.lines(snapshot(*PODS[:3]), elsewhere, STACK)]
    assert "front door: limiter" in subjects
    assert "front door: Redis" not in subjects


@pytest.mark.parametrize(
    ("changed", "subject", "state"),
    [
        ({"gateways": []}, "front door", State.BAD),
        ({"gateways": [a_gateway(condition("Accepted"), name=facts.NAME)]}, "front door", State.BUSY),
        ({"routes": []}, "front door: route", State.BAD),
        ({"policies": False}, f"front door: health check of {facts.NAME}", State.BAD),
    ],
    ids=["no Gateway", "a Gateway that is not programmed", "no route", "no policies"],
)
def test_a_part_that_is_missing_is_named(
    door: FrontDoorSettings, changed: dict[str, Any], subject: str, state: State
) -> None:
    lines = front_door.lines(snapshot(*PODS, **changed), door, STACK)
    assert next(line for line in lines if line.state is not State.GOOD).subject == subject
    assert next(line for line in lines if line.subject == subject).state is state


def test_a_proxy_that_is_not_ready_is_waited_for(door: FrontDoorSettings) -> None:
    lines = front_door.lines(snapshot(PODS[0], pod("front-door-2", facts.PROXY_LABELS, ready=False)), door, STACK)
    (line,) = [line for line in lines if line.subject == "front door: proxies"]
    assert (line.state, line.text) == (State.BUSY, "1 of 2 pods ready")


def test_the_load_balancer_s_view_is_that_of_the_proxies(settings: StackSettings) -> None:
    health = {ONE: ["HEALTHY"], TWO: ["UNHEALTHY"]}
    (line,) = backend_health.lines(snapshot(*PODS), settings, health)
    assert (line.subject, line.state) == ("front door: backends", State.BAD)
    assert f"{TWO}: UNHEALTHY" in line.text
