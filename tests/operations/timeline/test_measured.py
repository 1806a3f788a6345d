"""The first update as it went, from the times in the engine's state."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from operations import outputs
from operations.options import Cloud
from operations.target import Target
from operations.timeline.measured import Key, MeasuredStep, first_update, measure
from operations.timeline.simulate import SERVICE, Timeline, TimelineStep
from tests.fakes.script import SHEBANG
from tests.operations.conftest import Clone
from tests.operations.graphs import graph, node
from tests.operations.support import program

BEGIN = datetime(2026, 11, 23, 12, tzinfo=UTC)
STACK = ("pulumi:pulumi:Stack", "llmd-gke-one")
NODES = (
    node("box"),
    node("first", inside="box"),
    node("second", ["first"], inside="box"),
    node("other", inside="box"),
    node("qwen-service", ["second", "other"], inside="box", type_=SERVICE),
)
TIMELINE = Timeline(
    (
        TimelineStep("first", 0, 100, "x"),
        TimelineStep("other", 0, 2, "x"),
        TimelineStep("second", 100, 0, "x"),
        TimelineStep("qwen-service", 100, 2, "x"),
        TimelineStep("qwen-service/host", 102, 600, "x"),
    ),
    {"qwen": 702},
    (),
)


JOB = "kubernetes:batch/v1:Job"
NODES_WITH_JOB = (
    node("box"),
    node("v6e4-early-job", inside="box", type_=JOB),
    node("platform", inside="box"),
    node("qwen-service", ["platform", "v6e4-early-job"], inside="box", type_=SERVICE),
    node("other-service", ["platform", "v6e4-early-job"], inside="box", type_=SERVICE),
)
TIMELINE_WITH_JOB = Timeline(
    (
        TimelineStep("v6e4-early-job", 0, 2, "x"),
        TimelineStep("platform", 0, 100, "x"),
        TimelineStep("v6e4-early-job/host", 2, 600, "x"),
        TimelineStep("other-service", 100, 2, "x"),
        TimelineStep("other-service/image", 102, 21, "x"),
        TimelineStep("qwen-service", 100, 2, "x"),
        TimelineStep("qwen-service/policy", 102, 3000, "x"),
        TimelineStep("qwen-service/image", 602, 21, "x"),
    ),
    {"qwen": 3102, "other": 123},
    (),
)


def created(**seconds: float) -> dict[Key, datetime]:
    types = {one.name: one.type for one in NODES}
    names = {name.replace("_", "-"): BEGIN + timedelta(seconds=value) for name, value in seconds.items()}
    return {STACK: BEGIN, **{(types[name], name): when for name, when in names.items()}}


def test_a_step_lasts_from_the_last_of_what_it_waits_for_until_it_exists() -> None:
    result = measure(graph(*NODES), TIMELINE, created(first=50, other=3, second=60, qwen_service=460))
    assert result.steps == (
        MeasuredStep("other", 2, 3),
        MeasuredStep("first", 100, 50),
        MeasuredStep("second", 0, 10),
        MeasuredStep("qwen-service", 602, 400),
    )
    assert [step.ratio for step in result.steps] == [1.5, 0.5, None, pytest.approx(400 / 602)]
    assert (result.services, result.total) == ({"qwen": 460.0}, 460.0)


def test_the_wait_for_a_host_that_a_job_asked_for_is_expected_of_the_service_and_not_of_the_job() -> None:
    types = {one.name: one.type for one in NODES_WITH_JOB}
    seconds = {"v6e4-early-job": 1, "platform": 100, "qwen-service": 623, "other-service": 123}
    times = {(types[name], name): BEGIN + timedelta(seconds=value) for name, value in seconds.items()}
    result = measure(graph(*NODES_WITH_JOB), TIMELINE_WITH_JOB, {STACK: BEGIN, **times})
    assert result.steps == (
        MeasuredStep("v6e4-early-job", 2, 1),
        MeasuredStep("platform", 100, 100),
        MeasuredStep("other-service", 23, 23),
        MeasuredStep("qwen-service", 523, 523),
    )


def test_what_a_later_update_created_has_no_figure() -> None:
    times = created(first=50, other=3, second=90_000, qwen_service=90_400)
    history = [(BEGIN + timedelta(days=1), BEGIN + timedelta(days=2)), (BEGIN, BEGIN + timedelta(seconds=55))]
    result = measure(graph(*NODES), TIMELINE, first_update(times, history))
    assert [step.name for step in result.steps] == ["other", "first"]
    assert result.services == {}


ENGINE = (
    SHEBANG
    + """
import json, sys
created = "2026-11-23T12:00:01"
state = {"deployment": {"resources": [
    {"urn": "urn:pulumi:one::llmd-gke::a:b:C::x", "type": "a:b:C", "created": created + ".123456789Z"},
    {"urn": "urn:pulumi:one::llmd-gke::a:b:C::read", "type": "a:b:C", "created": created + "Z", "external": True},
    {"urn": "urn:pulumi:one::llmd-gke::a:b:Box::box", "type": "a:b:Box"},
]}}
begin, end = "2026-11-23T12:00:00.000Z", "2026-11-23T12:10:00.000Z"
history = [
    {"kind": "refresh", "startTime": begin, "endTime": end},
    {"kind": "update", "startTime": begin, "endTime": end},
    {"kind": "update", "startTime": begin},
]
print(json.dumps(state if "export" in sys.argv else history))
"""
)


def test_times_come_from_the_engines_state_and_history(
    clone: Clone, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path_factory.mktemp("engine") / "pulumi", ENGINE, monkeypatch)
    target = Target("one", Cloud.GOOGLE, clone.root)
    assert outputs.created(target) == {("a:b:C", "x"): datetime(2026, 11, 23, 12, 0, 1, 123456, tzinfo=UTC)}
    assert outputs.updates(target) == [(BEGIN, BEGIN + timedelta(minutes=10))]
