"""Transient failures of an update, after which the laptop cloud repeats it by itself.

KServe's and LeaderWorkerSet's CRDs are large. On a busy machine the API server takes longer for one than Helm's time
limit, and the chart's installation fails. And while a controller is restarting, its webhooks do not answer, and the API
server rejects the objects that they validate. It also does so until cert-manager has written its CA into a new webhook,
which no chart waits for.
"""

from __future__ import annotations

import re
from pathlib import Path

from localcloud.workflow import failures

CAUSES = {
    "The machine was too busy for a time limit of a request to the API server": re.compile(
        r"context deadline exceeded|request did not complete within the allotted timeout|Client\.Timeout"
    ),
    "A controller was briefly unavailable, so its webhook did not answer": re.compile(
        r"failed calling webhook.*(connection refused|connection reset|no endpoints available|EOF)", re.DOTALL
    ),
    "cert-manager had not given a new webhook its CA yet": re.compile(
        r"failed calling webhook.*certificate signed by unknown authority", re.DOTALL
    ),
}
"""Patterns of the messages of Helm, of the Kubernetes provider and of the API server, by their cause."""


def cause(events: Path) -> str | None:
    """The cause, if every error in the engine's event log (`--event-log`) has one of them; otherwise ``None``."""
    causes = [_cause(error) for error in failures.errors(events) if not failures.is_consequence(error)]
    return causes[0] if causes and all(causes) else None


def _cause(error: str) -> str | None:
    return next((cause_text for cause_text, sign in CAUSES.items() if sign.search(error)), None)
