"""The record of calls, ``calls.jsonl``: one JSON object a line, without any property value.

Keys: ``time`` (UTC, ISO 8601), ``seconds``, ``pid``, ``provider``, ``method`` (as in the protocol), ``type``, ``name``
and ``urn`` (empty where the call has none), ``id``, ``preview`` (only where true), ``outcome`` (``ok``, ``refused`` or
``failed``) and ``message`` (of a refusal). Tests read it to see what the engine asked for and in which order.
"""

from __future__ import annotations

import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path


class CallRecord:
    """Appends to the record. One ``write`` a line on a file opened for appending: lines of processes never mix."""

    def __init__(self, path: Path, provider: str) -> None:
        self.path, self._provider, self._lock = path, provider, threading.Lock()

    def add(
        self, method: str, seconds: float, outcome: str, message: str = "", *, preview: bool = False, **about: str
    ) -> None:
        """Records one call and its outcome. ``seconds``: its duration."""
        entry: dict[str, object] = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "seconds": round(seconds, 3),
            "pid": os.getpid(),
            "provider": self._provider,
            "method": method,
            "outcome": outcome,
            **{key: value for key, value in about.items() if value},
        }
        if preview:
            entry["preview"] = True
        if message:
            entry["message"] = message
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab", buffering=0) as file:
                file.write(json.dumps(entry).encode() + b"\n")
