"""Failures of an update that only a busy machine explains: the laptop cloud then goes on once by itself.

KServe's and LeaderWorkerSet's CRDs are large. On a machine that other work keeps busy the API server takes longer for
one than the time that Helm gives it, and the chart's installation fails.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

TOO_SLOW = ("context deadline exceeded", "request did not complete within the allotted timeout")
"""What Helm and the API server say when time ran out."""


def only(events: Path) -> bool:
    """Whether every error in the engine's event log (`--event-log`) says that time ran out; no errors: ``False``."""
    found = list(_errors(events))
    return bool(found) and all(any(words in error for words in TOO_SLOW) for error in found)


def _errors(events: Path) -> Iterator[str]:
    """The resources' errors; the last one, of the stack itself, only counts the others."""
    if not events.exists():
        return
    for line in events.read_text(encoding="utf-8").splitlines():
        try:
            event = cast("dict[str, Any]", json.loads(line)).get("diagnosticEvent")
        except json.JSONDecodeError:  # the last line of an engine that was killed
            continue
        if event and event.get("severity") == "error" and not str(event.get("urn", "")).endswith(f"::{_stack(event)}"):
            yield str(event.get("message", ""))


def _stack(event: dict[str, Any]) -> str:
    """The stack's own name as a resource: ``PROJECT-STACK`` of ``urn:pulumi:STACK::PROJECT::...``."""
    words = str(event.get("urn", "")).split("::")
    return f"{words[1]}-{words[0].rpartition(':')[2]}" if len(words) > 2 else "-"
