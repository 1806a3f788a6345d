"""The engine's own events, which it writes line by line to a file (``--event-log``)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast


def read(events: Path) -> Iterator[dict[str, Any]]:
    """The events so far; none without a file."""
    if not events.exists():
        return
    for line in events.read_text(encoding="utf-8").splitlines():
        try:
            yield cast("dict[str, Any]", json.loads(line))
        except json.JSONDecodeError:  # the last line of an engine that runs, or was killed
            continue
