from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from llmd_gke.settings import ScalingSettings
from llmd_gke.settings.parse import parse
from llmd_gke.settings.sections.scaling import ScheduleSettings
from operations.outputs import Endpoint, Outputs
from operations.status.objects import Line, Snapshot, State
from operations.status.screen import as_json, headline, rendered, sections, worst
from tests.operations.status.shapes import (
    NOW,
    READY_SERVICE,
    attached,
    condition,
    container,
    event,
    gateway,
    node,
    policy,
    server,
)

SETTINGS = parse(
    {
        "gcp:project": "some-project",
        "llmd-gke:cluster": {"name": "llm", "zone": "europe-west4-a"},
        "llmd-gke:pools": [{"name": "v6e-1", "machineType": "ct6e-standard-1t", "topology": "1x1", "maxNodes": 2}],
        "llmd-gke:models": [{"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e-1"}],
    },
    "eu4a",
).settings
OUTPUTS = Outputs("10.0.0.9", (Endpoint("qwen", "http://10.0.0.9/models/qwen", "qwen"),), {"name": "llm"}, {})
POLICIES = [policy(name, condition("Attached")) for name in ("qwen-inference-pool", "qwen-kserve-workload-svc")]


def snapshot(*pods: dict[str, Any], **more: Any) -> Snapshot:
    return Snapshot(
        nodes=[node(), node("gke-v6e-2"), node("gke-system-1", "system")],
        pods=pods,
        services=[READY_SERVICE],
        gateways=[gateway()],
        routes=[attached("HTTPRoute", "qwen-route", condition("Accepted"), condition("ResolvedRefs"))],
        pools=[attached("InferencePool", "qwen-inference-pool", condition("Accepted"))],
        health_policies=POLICIES,
        backend_policies=POLICIES,
        now=NOW,
        **more,
    )


SECOND = server("qwen-kserve-abc-2", container("main", ago=4), container("warm-up"))
SECOND["spec"]["nodeName"] = "gke-v6e-2"
STARTING = snapshot(
    server("qwen-kserve-abc-1", ready=True, age=90),
    SECOND,
    events=[event("BackOff", "qwen-kserve-abc-2", "Back-off restarting failed container main", count=7)],
    logs={("models", "qwen-kserve-abc-2"): "[compilation_manager.py:135] Precompile backbone"},
    unreadable={"events": "events cannot be read: forbidden"},
)


def test_the_screen_reads_from_the_nodes_to_the_events(capsys: pytest.CaptureFixture[str]) -> None:
    Console(width=120, highlight=False).print(rendered(sections(STARTING, SETTINGS, OUTPUTS, "eu4a")))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert [line for line in lines if not line.startswith(" ")] == [
        "Nodes",
        "Model qwen",
        "Gateway",
        "Events of the last hour",
        "1 item will not recover without help; the command to run is below each of them.",
    ]
    assert " ok    gateway  programmed at 10.0.0.9, 1 route(s) attached" in lines
    (bad,) = [number for number, line in enumerate(lines) if line.startswith(" BAD ")]
    assert lines[bad + 2].strip() == "→ kubectl -n models logs qwen-kserve-abc-2 --all-containers --previous"


@pytest.mark.parametrize(
    ("cluster", "state", "headline_"),
    [
        (snapshot(server(ready=True)), State.GOOD, "Everything is as it should be."),
        (snapshot(server("p", container("main"))), State.BUSY, "waiting for 1 item"),
        (Snapshot(now=NOW), State.BAD, "without help"),
    ],
    ids=["served", "on its way", "empty"],
)
def test_the_worst_line_is_the_state_of_the_stack(cluster: Snapshot, state: State, headline_: str) -> None:
    shown = sections(cluster, SETTINGS, OUTPUTS, "eu4a")
    assert (worst(shown), headline_ in headline(shown)) == (state, True)


def test_the_json_holds_every_line_of_the_screen() -> None:
    shown = sections(STARTING, SETTINGS, OUTPUTS, "eu4a")
    data = json.loads(json.dumps(as_json("eu4a", "google", shown)))
    assert data["state"] == "bad"
    assert [section["title"] for section in data["sections"]] == [section.title for section in shown]
    assert sum(len(section["lines"]) for section in data["sections"]) == 11


def test_an_idle_model_has_no_server_and_nothing_is_wrong() -> None:
    (model,) = SETTINGS.models
    pace = ScalingSettings(idle_after_seconds=7200)
    idle = model.model_copy(update={"min_replicas": 1, "max_replicas": 2, "scaling": pace})
    settings = SETTINGS.model_copy(update={"models": (idle,)})
    shown = sections(Snapshot(gateways=[gateway()], services=[READY_SERVICE], now=NOW), settings, OUTPUTS, "eu4a")
    (line,) = next(section.lines for section in shown if section.title == "Model qwen")
    assert line.state is State.GOOD
    assert "no request for 7200 s: the next one starts it" in line.text
    woken = sections(snapshot(server("p", container("main"))), settings, OUTPUTS, "eu4a")
    assert worst(woken) is State.BUSY


def test_a_model_outside_of_its_hours_is_stopped_by_its_schedule_and_nothing_is_wrong() -> None:
    now = datetime(2026, 11, 22, 12, tzinfo=UTC)  # a Sunday
    (model,) = SETTINGS.models
    hours = ScheduleSettings(time_zone="Europe/Amsterdam", hours=("Mon-Fri 08:00-18:00",))
    scheduled = model.model_copy(update={"min_replicas": 1, "max_replicas": 2, "schedule": hours})
    settings = SETTINGS.model_copy(update={"models": (scheduled,)})

    def lines(at: datetime) -> Sequence[Line]:
        snapshot = Snapshot(gateways=[gateway()], services=[READY_SERVICE], now=at)
        shown = sections(snapshot, settings, OUTPUTS, "eu4a")
        return next(section.lines for section in shown if section.title == "Model qwen")

    (line,) = lines(now)
    assert line.state is State.GOOD
    assert "stopped by its schedule: outside of its hours (Mon-Fri 08:00-18:00 Europe/Amsterdam)" in line.text
    assert len(lines(now.replace(day=23))) > 1
