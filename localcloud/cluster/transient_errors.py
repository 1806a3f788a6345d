"""Failures of an update that pass: the laptop cloud then goes on once by itself.

KServe's and LeaderWorkerSet's CRDs are large. On a machine that other work keeps busy the API server takes longer for
one than the time that Helm gives it, and the chart's installation fails. And while a controller is being started again,
nobody answers for its webhooks, and the API server refuses what they have to judge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

CAUSES = {
    "The machine was too busy for the time that Helm gives the API server": re.compile(
        r"context deadline exceeded|request did not complete within the allotted timeout"
    ),
    "A controller was away for a moment, and nobody answered for its webhook": re.compile(
        r"failed calling webhook.*(connection refused|connection reset|no endpoints available|EOF)", re.DOTALL
    ),
}
"""What Helm and the API server say, by its cause."""

SUMMARIES = ("preview failed", "update failed")
"""They name no resource (``reportExecResult`` in pulumi/pkg/resource/deploy/deployment_executor.go)."""


def cause(events: Path) -> str | None:
    """The cause, when every error in the engine's event log (`--event-log`) has one of them; otherwise ``None``."""
    found = [_cause(error) for error in errors(events)]
    return found[0] if found and all(found) else None


def _cause(error: str) -> str | None:
    return next((words for words, sign in CAUSES.items() if sign.search(error)), None)


def errors(events: Path) -> Iterator[str]:
    """What went wrong, error by error; the engine's last one, which only says that there were others, is left out."""
    if not events.exists():
        return
    for line in events.read_text(encoding="utf-8").splitlines():
        try:
            event = cast("dict[str, Any]", json.loads(line)).get("diagnosticEvent")
        except json.JSONDecodeError:  # the last line of an engine that was killed
            continue
        if event and event.get("severity") == "error" and str(event["message"]).strip() not in SUMMARIES:
            yield str(event["message"])
