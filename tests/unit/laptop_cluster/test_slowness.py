"""Which failed updates the laptop cloud repeats by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llmd_gke.laptop.cluster import slowness

STACK = "urn:pulumi:local::llmd-gke::pulumi:pulumi:Stack::llmd-gke-local"
RELEASE = "urn:pulumi:local::llmd-gke::llmd-gke:platform:Platform$kubernetes:helm.sh/v3:Release::platform-lws"
TIME = "failed to create resource: context deadline exceeded"
SUMMARY = (STACK, "error", "update failed")


@pytest.mark.parametrize(
    ("said", "repeated"),
    [
        ([(RELEASE, "error", TIME), SUMMARY], True),
        ([(RELEASE, "error", TIME), (RELEASE, "error", "forbidden"), SUMMARY], False),
        ([(RELEASE, "warning", TIME), (RELEASE, "error", "forbidden")], False),
        ([(RELEASE, "warning", TIME)], False),
        ([SUMMARY], False),
        ([], False),
    ],
)
def test_an_update_is_repeated_when_time_is_all_that_it_lacked(
    tmp_path: Path, said: list[tuple[str, str, str]], repeated: bool
) -> None:
    log = tmp_path / "events.jsonl"
    events = [{"diagnosticEvent": {"urn": urn, "severity": kind, "message": text}} for urn, kind, text in said]
    log.write_text("".join(f"{json.dumps(event)}\n" for event in [{"preludeEvent": {}}, *events]))
    assert slowness.only(log) is repeated


def test_an_update_that_left_no_events_is_not_repeated(tmp_path: Path) -> None:
    assert not slowness.only(tmp_path / "events.jsonl")


def test_half_a_line_of_an_engine_that_was_killed_is_passed_over(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    event = {"diagnosticEvent": {"urn": RELEASE, "severity": "error", "message": TIME}}
    log.write_text(f'{json.dumps(event)}\n{{"diagnosticEv')
    assert slowness.only(log)
