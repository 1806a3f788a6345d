"""The engine's own events, which it writes line by line to a file (``--event-log``)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

STOPS_MODELS = (":Cluster", ":NodePool", ":Gateway", ":LLMInferenceService")
"""Endings of the types of resources whose replacement interrupts models."""


def read(events: Path) -> Iterator[dict[str, Any]]:
    """The events so far; none without a file."""
    if not events.exists():
        return
    for line in events.read_text(encoding="utf-8").splitlines():
        try:
            yield cast("dict[str, Any]", json.loads(line))
        except json.JSONDecodeError:  # the last line of an engine that runs, or was killed
            continue


def interrupting(events: Path) -> list[str]:
    """Names of the resources that the engine replaces, and without which models do not answer."""
    steps = (event["resourcePreEvent"]["metadata"] for event in read(events) if "resourcePreEvent" in event)
    urns = [step["urn"] for step in steps if "replace" in step["op"] and step["type"].endswith(STOPS_MODELS)]
    return list(dict.fromkeys(urn.rpartition("::")[2] for urn in urns))
