"""The engine's own events (``--event-log``), read with the classes of Pulumi's automation API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pulumi.automation.events import EngineEvent

FLAG = "--event-log"
ENVIRONMENT = {"PULUMI_DEBUG_COMMANDS": "true"}
"""Variable without which the engine does not accept :data:`FLAG`."""


def created(events: Path) -> Mapping[str, int]:
    """Seconds that each created resource took, by its name; empty without a file.

    Events of previews are ignored, and so is an incomplete last line of a killed engine.
    """
    from pulumi.automation.events import OpType

    begun: dict[str, int] = {}
    durations: dict[str, int] = {}
    for event in _read(events):
        before, after = event.resource_pre_event, event.res_outputs_event
        if before is not None and not before.planning:
            begun[before.metadata.urn] = event.timestamp
        if after is not None and not after.planning and after.metadata.op in (OpType.CREATE, OpType.CREATE_REPLACEMENT):
            urn = after.metadata.urn
            durations[urn.rpartition("::")[2]] = event.timestamp - begun.get(urn, event.timestamp)
    return durations


def _read(events: Path) -> list[EngineEvent]:
    from pulumi.automation.events import EngineEvent

    read: list[EngineEvent] = []
    for line in events.read_text(encoding="utf-8").splitlines() if events.exists() else ():
        try:
            read.append(EngineEvent.from_json(json.loads(line)))  # pyright: ignore[reportUnknownMemberType]
        except ValueError:  # not JSON, or a step unknown to this release of the SDK
            continue
    return read
