"""How long a resource took is in the engine's events, not in what it prints for people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from operations.live import engine_events

URN = "urn:pulumi:eu4a::llmd-gke::llmd-gke:edge:Edge$kubernetes:gateway.networking.k8s.io/v1:Gateway::edge-gateway"


def event(kind: str, at: int, op: str = "create", urn: str = URN, **more: object) -> str:
    return json.dumps({"sequence": at, "timestamp": at, kind: {"metadata": {"op": op, "urn": urn}, **more}})


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


@pytest.mark.parametrize(
    ("op", "created"),
    [
        *((op, {"edge-gateway": 95}) for op in ("create", "create-replacement")),
        *((op, {}) for op in ("same", "update", "delete", "read")),
    ],
)
def test_a_resource_that_was_not_there_took_from_its_first_event_to_its_outputs(
    log: Path, op: str, created: dict[str, int]
) -> None:
    log.write_text("\n".join([event("resourcePreEvent", 1000, op), event("resOutputsEvent", 1095, op)]))
    assert engine_events.created(log) == created


def test_a_preview_creates_nothing(log: Path) -> None:
    preview = [event("resourcePreEvent", 1000, planning=True), event("resOutputsEvent", 1001, planning=True)]
    log.write_text("\n".join(preview))
    assert engine_events.created(log) == {}
    log.write_text("\n".join([*preview, event("resourcePreEvent", 1010), event("resOutputsEvent", 1020)]))
    assert engine_events.created(log) == {"edge-gateway": 10}


@pytest.mark.parametrize("rest", ['{"sequence": 3, "resOutp', "[]x", event("resourcePreEvent", 1, "step-of-2030")])
def test_lines_that_cannot_be_read_are_left_out(log: Path, rest: str) -> None:
    log.write_text("\n".join([event("resourcePreEvent", 1000), event("resOutputsEvent", 1001), rest]))
    assert engine_events.created(log) == {"edge-gateway": 1}
